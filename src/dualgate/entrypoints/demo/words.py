"""What the demo says, in both languages. What the user said is quoted, never translated."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from decimal import ROUND_DOWN, Decimal
from types import MappingProxyType

ENGLISH: Mapping[str, str] = MappingProxyType({
    "title": "{weeks} weeks, {sessions} conversations, {messages} messages → {live} memories",
    "intro": "{user} talks to an assistant. After every message dualgate decides what to keep. "
             "Nothing below was written in advance: these are its decisions.",
    "kept": "1 · What was kept",
    "frozen": "Frozen, {count} of {capacity} · told in every conversation; "
              "one remark cannot change it",
    "hot": "Hot, {count} of {capacity} · live memories, let in by their score; "
           "the fitting ones are told",
    "archive": "Archive, {count} of {capacity} · found when searched for, told no more by itself",
    "replaced": "Replaced · kept for the record, told no more",
    "froze": "said in {n} conversations → frozen",
    "confirmed": "said in {n} conversations → confirmed",
    "corrected": "an explicit correction; {confidence} ≥ {override_at} "
                 "→ replaced a frozen memory at once",
    "corrected_plain": "an explicit correction → in force at once (version {version})",
    "newer": "the newer state → took the old one's place (version {version})",
    "entered": "said once; score {score} ≥ {threshold} → candidate",
    "entered_often": "said in {n} conversations, counts as {count} → candidate",
    "anger": "{n} of them in anger: half weight",
    "contested": "contradicted, undecided: the assistant is to ask",
    "sensitive": "sensitive: not told by itself, gone after {date}",
    "sensitive_kept": "sensitive: not told by itself",
    "other_person": "about “{subject}”, not about the user",
    "assistant": "a promise of the assistant",
    "due": "due {date}, still open",
    "replaced_by": "{date}: gave way to “{new}”",
    "gave_way": "{date}: gave way to a newer statement",
    "left": "2 · What was not kept, and why",
    "refused": "Refused",
    "working-memory": "For this task only · a note that ended with the conversation",
    "ignored": "Bounced off a frozen memory",
    "held": "Parked beside a frozen memory · it changes nothing that is told",
    "silent": "No statement about the user in it · {n} messages",
    "secret": "A secret",
    "low_confidence": "lasting? confidence {confidence} < {min_confidence}",
    "below_threshold": "score {score}, the gate asked {threshold}",
    "not_lasting": "meant for {scope} only (confidence {confidence})",
    "frozen_not_lasting": "not meant to last; cannot touch “{item}”",
    "frozen_emotional": "said in anger; cannot touch “{item}”",
    "frozen_low_confidence": "confidence {confidence}; it takes {hold_at} "
                             "to be heard against “{item}”",
    "frozen_held": "serious ({confidence}), but no correction; conversation {sessions} of the "
                   "{thaw_sessions} it takes to shake “{item}”",
    "frozen_unsure": "a correction, but confidence {confidence} < {override_at}: "
                     "parked beside “{item}”",
    "outdated": "older than what is known",
    "expired": "over already",
    "not_the_users_words": "not the user's own words",
    "ungrounded": "not in the message",
    "echo": "our own words coming back",
    "redacted": "taken out before anything was stored; found {found} times in the "
                "{size} KB of the file",
    "more": "… and {n} more",
    "context": "3 · What the next conversation starts with",
    "opening": "{date}, the user opens with “{says}”. The assistant is handed this:",
    "tokens": "tokens: frozen core {core} of {core_limit} · lately {active} of {active_limit} · "
              "on this opening {recalled} of {recalled_limit} · in all {total} of {total_limit}",
    "life": "4 · The whole life of one memory",
    "life_note": "Versions: {versions}, signals: {signals}, moves: {moves}. "
                 "Every memory has this record.",
    "version": "version {n}: “{content}” ({status})",
    "agrees": "+ “{quote}” (confidence {confidence}{mood})",
    "disagrees": "− “{quote}” (against it, confidence {confidence}{mood})",
    "in_anger": ", in anger",
    "moved": "→ {status}: {cause}",
    "v": "v{n}",
    "status_confirmed": "confirmed",
    "status_frozen": "frozen",
    "status_archived": "archived",
    "status_superseded": "superseded",
    "status_forgotten": "forgotten",
    "status_candidate": "candidate",
    "cause_admitted": "passed the admission gate",
    "cause_replaced_another": "in place of an older value",
    "cause_confirmed": "said in {confirm_count} conversations",
    "cause_own_word": "the user's own word",
    "cause_froze": "{confirm_count} confirmations, the best calm one {calm_confidence}",
    "cause_superseded": "a newer version stands",
    "cause_weathered": "not used for a long time",
    "cause_thawed": "challenged long and steadily",
    "cause_expired": "its time is over",
    "cause_faded": "hardly used",
    "cause_evicted": "a better one needed the place",
    "cause_reactivated": "said again",
    "task": "this task",
    "moment": "this moment",
    "playing": "playing {date}",
    "keep_it": "This memory was a temporary file. To keep it: "
               "dualgate demo --db sqlite:///demo.db",
})  # fmt: skip

CHINESE: Mapping[str, str] = MappingProxyType({
    "title": "{weeks} 周，{sessions} 次对话，{messages} 条消息 → {live} 条记忆",
    "intro": "{user}与一个助手聊天；每说一句，dualgate 就决定记什么。"
             "下面没有一行是预先写好的，都是它当时的决定。",
    "kept": "一 · 记住了什么",
    "frozen": "冻结池 {count}/{capacity} · 每次对话都带上；一两句话改不动",
    "hot": "热池 {count}/{capacity} · 活跃的记忆，得分够到门槛才进得来；切题的会带上",
    "archive": "归档 {count}/{capacity} · 要找时找得到，平时不再带上",
    "replaced": "已被取代 · 留作记录，不再带上",
    "froze": "在 {n} 次对话里说过 → 冻结",
    "confirmed": "在 {n} 次对话里说过 → 已确认",
    "corrected": "明确的纠正；{confidence} ≥ {override_at} → 立即取代冻结的记忆",
    "corrected_plain": "明确的纠正 → 立即生效（第 {version} 版）",
    "newer": "较新的状态 → 取代旧的（第 {version} 版）",
    "entered": "说过一次；得分 {score} ≥ {threshold} → 候选",
    "entered_often": "在 {n} 次对话里说过，折算 {count} 次 → 仍是候选",
    "anger": "其中 {n} 次是气话，只算一半",
    "contested": "说法有出入，未定：由助手来问",
    "sensitive": "敏感：不主动带上，{date} 之后消失",
    "sensitive_kept": "敏感：不主动带上",
    "other_person": "说的是“{subject}”，不是用户",
    "assistant": "助手自己的承诺",
    "due": "{date} 到期，尚未完成",
    "replaced_by": "{date} 让位给“{new}”",
    "gave_way": "{date} 让位给较新的说法",
    "left": "二 · 没记的，为什么",
    "refused": "拒绝",
    "working-memory": "只为这件事 · 对话结束就清掉的便条",
    "ignored": "撞上冻结的记忆，忽略",
    "held": "挂起在冻结的记忆旁 · 不影响带上的内容",
    "silent": "没有关于用户的陈述 · {n} 条",
    "secret": "密码",
    "low_confidence": "是长期的吗？置信度 {confidence} < {min_confidence}",
    "below_threshold": "得分 {score}，门槛 {threshold}",
    "not_lasting": "听起来只管{scope}（置信度 {confidence}）",
    "frozen_not_lasting": "并非长期，动不了“{item}”",
    "frozen_emotional": "气话，动不了“{item}”",
    "frozen_low_confidence": "置信度 {confidence}，撼动“{item}”需要 {hold_at}",
    "frozen_held": "认真（{confidence}），但不是明确的纠正；"
                   "撼动“{item}”要 {thaw_sessions} 次对话，这是第 {sessions} 次",
    "frozen_unsure": "是纠正，但置信度 {confidence} < {override_at}：挂在“{item}”旁",
    "outdated": "比已知的还旧",
    "expired": "已经过期",
    "not_the_users_words": "不是用户自己的话",
    "ungrounded": "消息里没有",
    "echo": "我们自己的话又传了回来",
    "redacted": "入库之前就已抹去；搜遍整个文件（{size} KB），找到 {found} 处",
    "more": "…… 另有 {n} 条",
    "context": "三 · 下一次对话带着什么开始",
    "opening": "{date}，用户开口：“{says}” 助手拿到的是：",
    "tokens": "token：冻结核心 {core}/{core_limit} · 近期 {active}/{active_limit} · "
              "与开场有关 {recalled}/{recalled_limit} · 合计 {total}/{total_limit}",
    "life": "四 · 一条记忆的一生",
    "life_note": "{versions} 个版本，{signals} 个信号，{moves} 次变动；每条记忆都有这样一份记录。",
    "version": "第 {n} 版：“{content}”（{status}）",
    "agrees": "＋“{quote}”（置信度 {confidence}{mood}）",
    "disagrees": "－“{quote}”（与之相反，置信度 {confidence}{mood}）",
    "in_anger": "，气话",
    "moved": "→ {status}：{cause}",
    "v": "第 {n} 版",
    "status_confirmed": "已确认",
    "status_frozen": "冻结",
    "status_archived": "归档",
    "status_superseded": "已被取代",
    "status_forgotten": "已忘记",
    "status_candidate": "候选",
    "cause_admitted": "通过准入闸门",
    "cause_replaced_another": "接替旧值",
    "cause_confirmed": "已在 {confirm_count} 次对话里说过",
    "cause_own_word": "用户自己的话",
    "cause_froze": "{confirm_count} 次确认，最平静而明确的一次 {calm_confidence}",
    "cause_superseded": "有了新版本",
    "cause_weathered": "久未用到",
    "cause_thawed": "长期、持续地受到挑战",
    "cause_expired": "时限已到",
    "cause_faded": "几乎不用",
    "cause_evicted": "让位给得分更高的",
    "cause_reactivated": "又被提起",
    "task": "这件事",
    "moment": "此刻",
    "playing": "正在播放 {date}",
    "keep_it": "这份记忆是临时文件。想留下来看看：dualgate demo --db sqlite:///demo.db",
})  # fmt: skip


EXCERPT = 60  # characters of a quote inside a sentence


def short(text: str, limit: int = EXCERPT) -> str:
    r"""Return text on one line, cut where it gets long.

    >>> short("one two\nthree", 9)
    'one two…'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


class Words:
    """The phrases of one language; dates are those of the speaker's time zone."""

    def __init__(self, lang: str, zone: tzinfo | None = None) -> None:
        self.lang = lang
        self._zone = zone
        self._phrases = CHINESE if lang == "zh" else ENGLISH

    def __call__(self, name: str, **parts: object) -> str:
        """Return a phrase with its parts filled in."""
        return self._phrases[name].format(
            **{part: _number(value) for part, value in parts.items()}
        )

    def knows(self, name: str) -> bool:
        """Return whether there is such a phrase."""
        return name in self._phrases

    def day(self, moment: datetime) -> str:
        """Return a date as people say it.

        >>> Words("en").day(datetime(2026, 3, 2)), Words("zh").day(datetime(2026, 3, 2))
        ('2 Mar', '3月2日')
        """
        moment = moment if self._zone is None else moment.astimezone(self._zone)
        if self.lang == "zh":
            return f"{moment.month}月{moment.day}日"
        return f"{moment.day} {_MONTHS[moment.month - 1]}"


def _number(value: object) -> object:
    """Return a number as it is shown: cut, not rounded, so that 0.699 never reads as 0.70."""
    if not isinstance(value, float):
        return value
    cut = Decimal(str(value)).quantize(Decimal("0.01"), ROUND_DOWN)
    return f"{value:.0f}" if value == int(value) and value > 1 else str(cut)


# Not strftime: that speaks the machine's language.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
