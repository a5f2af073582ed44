"""The labels of the command line, in English and Chinese. What users said is never translated."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LANGUAGES = ("en", "zh")

_CHINESE: Mapping[str, str] = MappingProxyType(
    {
        "access count": "调用次数",
        "active": "活跃",
        "all is well": "一切正常",
        "archive": "归档",
        "attribute": "属性",
        "bad entries": "无法读取",
        "candidates": "候选",
        "cause": "原因",
        "challenge": "挑战",
        "confidence": "置信度",
        "confirmations": "确认次数",
        "content": "内容",
        "contested": "有争议",
        "context": "上下文",
        "core": "核心",
        "created": "创建",
        "decision": "决定",
        "decisions": "决定",
        "done": "完成",
        "evidence": "证据",
        "expires": "到期",
        "ends": "失效",
        "files": "文件",
        "found by words only": "仅按词语查找",
        "from": "原状态",
        "history": "历史",
        "id": "编号",
        "importance": "重要性",
        "item": "记忆",
        "items": "记忆",
        "job": "任务",
        "keys": "密钥",
        "last seen": "最近提及",
        "last used": "最近使用",
        "messages": "消息",
        "moves": "变动",
        "new messages": "新消息",
        "new value": "新说法",
        "next page": "下一页",
        "name": "名称",
        "no": "否",
        "no keys": "没有密钥",
        "nothing": "没有",
        "nothing moved": "没有变动",
        "notes": "笔记",
        "numbers": "数值",
        "other files": "其他文件",
        "outcome": "结果",
        "panel": "面板",
        "passages": "原文片段",
        "paths": "路径",
        "pending": "待定",
        "pinned": "已固定",
        "quote": "原话",
        "reason": "理由",
        "recalled": "召回",
        "recalls": "召回记录",
        "relevance": "相关度",
        "role": "角色",
        "revoked": "已作废",
        "scope": "权限",
        "score": "得分",
        "seconds": "秒",
        "sensitivity": "敏感度",
        "session": "会话",
        "transcript": "原始对话",
        "sessions": "会话",
        "signals": "信号",
        "something is wrong": "有问题需要处理",
        "stats": "统计",
        "status": "状态",
        "subject": "主体",
        "support": "支持度",
        "time": "时间",
        "time span": "时间跨度",
        "to": "新状态",
        "tokens": "词元",
        "turns": "消息",
        "type": "类型",
        "user": "用户",
        "shown once; keep it safe": "只显示一次，请妥善保存",
        "tenant": "租户",
        "users": "用户",
        "user messages": "用户消息",
        "value": "值",
        "version": "版本",
        "versions": "版本",
        "who": "谁",
        "bytes": "字节",
        "archive capacity": "归档容量",
        "capture paused": "记录已暂停",
        "dead": "失败任务",
        "failed": "失败",
        "frozen": "冻结",
        "frozen capacity": "冻结容量",
        "hot": "热池",
        "hot capacity": "热池容量",
        "oldest enqueued at": "最早排队时间",
        "pendings": "待定",
        "recall paused": "召回已暂停",
        "threshold": "准入门槛",
        "user class": "用户类别",
        "waiting": "排队中",
        "waiting to freeze": "等待冻结",
        "yes": "是",
        "erased": "已彻底删除",
        "exported": "已导出",
        "imported": "已导入",
        "known already": "原有",
        "erased before, left out": "曾被彻底删除，未导入",
        "words taken out of": "清除了其中的字句",
        "no byte is left": "文件里一个字节也不剩",
        "the file waits for dualgate scrub": "文件待 dualgate scrub 重写",
        "another process reads the file; try again": "另一个进程正在读文件，请稍后再试",
        "other conversations speak for it as well": "别的会话也说到它，保留",
        "says the same words": "还有记忆说到同样的字句",
        "erase for ever? it cannot be undone": "彻底删除？无法撤销",
        "findings": "审查发现",
        "uses": "使用记录",
        "jobs": "任务",
        "vectors": "向量",
        "turn vectors": "消息向量",
        "tombstones": "墓碑",
        "nothing was stored: capture is paused, or nothing is left of it": (
            "没有写入:记录已暂停,或没有可写的内容"
        ),
        "not stored": "未写入",
        "queued": "已排队",
        "dry run: nothing was stored, candidates were not extracted": (
            "试读:没有写入,也没有提取候选"
        ),
    }
)


# Why a decision ended as it did, in plain words; docs/reference/decisions.md says it at length.
_REASONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "not_the_users_words": ("not the user's own words", "不是用户自己的话"),
        "ungrounded": ("not found in what was said", "原话里没有"),
        "low_confidence": ("not sure enough that it lasts", "不够确定它是长期的"),
        "expired": ("over when it was said", "说的时候就已过期"),
        "erased": (
            "you erased this; old text does not bring it back",
            "你已彻底删除，旧文本带不回来",
        ),
        "echo": ("our own words coming back", "是记忆自己的话又回来了"),
        "not_lasting": ("meant for this time only", "只管这一次"),
        "frozen_not_lasting": (
            "meant for this time only; a frozen memory stays",
            "只管这一次，动不了冻结的记忆",
        ),
        "outburst": ("said in anger, against what was said calmly", "是气话，与平静时说的相反"),
        "frozen_emotional": ("said in anger; a frozen memory stays", "是气话，动不了冻结的记忆"),
        "frozen_low_confidence": (
            "too unsure to challenge a frozen memory",
            "不够确定，挑战不了冻结的记忆",
        ),
        "frozen_challenges_full": ("stronger challenges already wait", "已有更强的挑战在等"),
        "frozen_held": ("parked beside a frozen memory", "挂起在冻结的记忆旁"),
        "thawed": (
            "challenged long and steadily: the frozen memory thawed",
            "长期反复的挑战：冻结的记忆解冻了",
        ),
        "explicit_correction": (
            "a plain correction replaced a frozen memory",
            "明确的纠正取代了冻结的记忆",
        ),
        "restated": ("said again: counted to the memory", "再次说到：计入已有的记忆"),
        "correction": ("a plain correction replaced the old value", "明确的纠正取代了旧值"),
        "newer_value": ("a newer value replaced the old one", "较新的值取代了旧值"),
        "outdated": ("older than what is known", "比已知的更旧"),
        "contradiction": (
            "contradicts a memory; both stand, undecided",
            "与已有的记忆矛盾；两者并存，未定",
        ),
        "below_threshold": ("its score is under the threshold", "得分低于准入门槛"),
        "pool_full": ("the pool is full of better ones", "池子已满，且都比它强"),
        "overlap_kept_apart": (
            "near a memory, but not surely the same: both kept",
            "与已有的记忆相近，但不确定相同：都保留",
        ),
        "new": ("nothing like it was known", "以前没有类似的"),
    }
)


def reason_told(reason: str, lang: str | None) -> str:
    """Return a decision's reason in plain words; a reason unknown here as it is."""
    english, chinese = _REASONS.get(reason, (reason, reason))
    return chinese if lang == "zh" else english


def word(english: str, lang: str | None) -> str:
    """Return a label in the language, English where there is none."""
    return _CHINESE.get(english, english) if lang == "zh" else english
