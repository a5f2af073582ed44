"""One statement taken apart: concepts, numbers, names, leftover words, and whether it denies.

Rule: facts about one text only, language by language; comparing two is features.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from dualgate.adapters.local.concepts import (
    Concept,
    Hit,
    Lexicon,
    lexicon,
    simplified,
    singular,
    stretches,
)
from dualgate.domain.items import folded

READ_LIMIT = 400  # characters; an item is one plain sentence

FOR = frozenset({"like", "support", "accept", "allow", "must", "enable"})
AGAINST = frozenset({"hate", "oppose", "reject", "forbid", "stop", "disable"})
STANCE = FOR | AGAINST | {"start", "final", "use", "own", "name", "choose", "home", "age", "migrate"}


@dataclass(frozen=True, slots=True)
class Statement:
    """What one text consists of. concepts holds what it is about, without its stance."""

    text: str
    chinese: bool
    hits: tuple[Hit, ...]
    concepts: dict[str, Concept]
    stance: frozenset[str]
    numbers: frozenset[float]
    names: frozenset[str]
    words: frozenset[str]
    denies: bool
    size: int


# Words that carry no content of their own; what they do to a statement is told by its form.
_ZH_EMPTY = frozenset(
    "用户 我 我们 咱们 咱 本人 他 她 它 的 了 是 在 一 个 和 与 也 都 就 还 又 很 非常 特别 挺 比较 更 最 把 被 给 让 对 会 将"
    " 到 去 来 从 向 于 为 以 及 或 而 且 但 着 过 地 得 里 上 下 中 内 时 时候 这 那 该 其 此 请 目前 现在 最近 正在 已经 已 通常"
    " 一般 平时 比如 等 种 位 名 只 条 辆 台 套 份 次 些 点 自己 所有 每 当 之 者 所 方面 东西 事情 一下 做 进行"
    " 定 今年 时间 性 类 型 式 款 从来 真的 确实 其实 然后 因为 所以 如果 我家 家里 我的 想 说 觉得 认为 表示 关于 作为 成为 属于 不 没 没有 从来不 从不 不是 超过 看 读 正 元 块 万 人 这个 那个 这种 一种 一名 一位".split()
)
_EN_EMPTY = frozenset(
    "user the a an i me my mine we us our ours you your it its he she his her they their them this that these those is are was were be"
    " been being am do does did have had has will would shall should can could to of in on at for with from by as and or but so if than"
    " then when while which who whom whose what there here very really quite rather more most much many some any all each just"
    " also too still now currently lately recently usually generally please about into onto over under out up down off own one user's"
    " s t re ve ll d m not no never nor because don't doesn't didn't isn't aren't won't wasn't can't cannot couldn't limit one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty"
    " hundred thousand million get gets got make makes made give gives given go goes let lets keep kept want take takes took please".split()
)
_ZH_DENIAL = re.compile(
    r"不(?!错|过(?!敏)|同|仅|但|管|断|论|妨|超过?|多于|低于|少于|大于|高于|得不|久|锈|动产|止|只|光|是不|可或缺)|没(?!问题|事|关系)"
    r"|无(?!论|锡|线|所谓|人机|障碍)|勿|未(?!来|婚|必)|非(?!常|洲|得|要)|免"
)
_ZH_DOUBLE = re.compile(r"不得不|不能不|不可不|不会不|没有不|没有一[天日次顿个回]不|不是不|并非不")
# "Moved from X to Y" states Y; X is only where it came from.
_LEFT_BEHIND = re.compile(
    r"从[^，。；]{1,16}?(?=换|迁|改|转|切|搬)"
    r"|(?<=migrated )from [^,.;]{1,24}? (?=to )|(?<=switched )from [^,.;]{1,24}? (?=to )"
    r"|(?<=moved )from [^,.;]{1,24}? (?=to )|(?<=changed )from [^,.;]{1,24}? (?=to )"
    r"|(?<=replaced )[^,.;]{1,24}? (?=with )"
)
# "Off X", "X 不用了": a sentence that names a value because it is no longer the value.
_LEAVES = (
    r"(?:从|离开了?|弃用了?|停用了?|告别了?|不(?:再)?(?:用|在|住|喝|吃|听|去|做|要)|没再用)\s*$"
    r"|\b(?:off|from|left|leaving|dropped|ditched|quit|replaced|abandoned|instead of|rather than|over|no longer (?:\w+ )?(?:at|in|on|with|to|by|for)?"
    r"|(?:stopped|done|finished) (?:using|with|drinking|eating|playing|watching|reading))(?: the)?\s*$"
)
_IS_LEFT = (
    r"^\s*(?:[^，。,.;；]{0,3})?(?:不(?:再)?(?:用|要|去|喝|吃|听|看|做|干|在|行)了|停了|换掉|作废|退了|卖了|下线了)"
    r"|^\s*(?:is|was|has been|got) (?:gone|replaced|dropped|retired|history|out)\b|^\s*(?:no longer|any ?more)\b"
)
_AT_MOST = re.compile(
    r"(?:\bcan(?:no|['’])t|\bcannot|\bnot|\bno|n['’]t)\b[^.,;]{0,24}?\b(?:more than|over|above|beyond|exceed)\b"
    r"|\b(?:more than|over|above)(?= [^.,;]{1,24} (?:is|are|would be) (?:not|out of|beyond|too))|超过(?=[^，。；]{1,10}(?:就|都)?(?:买不起|不行|免谈|不考虑|不要|不买|付不起))"
    r"|\bnot exceed\b|\bno (?:more|later|longer|less) than\b|不(?:能|可以?|得|准|要|许)?(?:超过|超出|高于|多于|低于|少于|晚于)"
)
_EN_DENIAL = re.compile(
    r"\b(?:not|no(?! (?:more|less|fewer|later|earlier) than| problem| matter| longer| doubt)|none|neither|nor|without|avoids?|lacks?"
    r"|cannot|nothing|nobody|nowhere|unable|free of|except|instead of|rather than"
    r"|leav(?:es?|ing) (?:\w+ ){0,2}?out|skips?)\b|n['’]t\b"
)
_ALLERGIC = re.compile(r"过敏|\ballerg|\bintoleran")
_NOT_ALLERGIC = re.compile(
    r"(?:不|没有?|并非|未|无)[^，。]{0,8}过敏|\b(?:not|no|never|n['’]t)\s(?:\w+\s){0,2}(?:allerg|intoleran)|n['’]t allerg"
)
_DIGITS = re.compile(
    r"(?P<n>\d+(?:[,，]\d{3})+|\d+(?:\.\d+)?)\s*(?P<unit>万亿|亿|千万|百万|万|千|百|k\b|m\b|thousand|million|billion|"
    r"hundred|%)?"
)
_ZH_NUMBER = re.compile(r"[零〇一二两三四五六七八九十百千]{1,9}(?P<unit>万亿|亿|千万|百万|万)?")
_HALF = re.compile(r"([零一二两三四五六七八九十]{1,3}|\d{1,2})点半")
_CLOCK = re.compile(r"(?<![\d:.])(\d{1,2}):([0-5]\d)(?![\d:])")
_SCALE = {
    "百": 1e2, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12, "k": 1e3, "m": 1e6,
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "%": 0.01,
}  # fmt: skip
_EN_NUMBERS = {
    word: float(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
        " nineteen".split()
    )
} | {"twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0,
     "eighty": 80.0, "ninety": 90.0, "twice": 2.0, "half": 0.5, "dozen": 12.0}  # fmt: skip


@lru_cache(maxsize=4_096)
def known(text: str) -> Statement:
    """Return the statement of a text; the slots and the judge both ask for the same one."""
    return read(text)


def read(text: str, words: Lexicon | None = None) -> Statement:
    """Take a statement apart."""
    known = words or lexicon()
    plain = simplified(folded(text[:READ_LIMIT]))
    plain = _LEFT_BEHIND.sub(" ", _AT_MOST.sub(" limit ", _ZH_DOUBLE.sub("必须", plain)))
    chinese = any("\u3400" <= character <= "\u9fff" for character in plain)
    numbers, rest = _numbers(plain)
    hits: list[Hit] = []
    left: list[str] = []
    names: set[str] = set()
    for run in _runs(stretches(rest)):
        if isinstance(run, str):
            _read_chinese(run, known, hits, left)
        else:
            _read_words(run, known, hits, left, names, chinese=chinese)
    names |= _capitalised(text[:READ_LIMIT], known) if not chinese else set()
    concepts = {
        hit.concept.id: hit.concept for hit in hits if hit.concept.id not in STANCE
    }
    stance = frozenset(hit.concept.id for hit in hits if hit.concept.id in STANCE)
    return Statement(
        text=plain, chinese=chinese, hits=tuple(hits), concepts=concepts, stance=stance,
        numbers=frozenset(numbers), names=frozenset(names), words=frozenset(left) - names,
        denies=_denies(plain, hits), size=len(plain),
    )  # fmt: skip


def _words_of(run: str) -> list[str]:
    # Its dictionary takes a fifth of a second to load: only where there is Chinese to read.
    import rjieba

    found: list[str] = rjieba.cut(run, False)  # noqa: FBT003
    return found


def _runs(pieces: list[str]) -> Iterator[str | list[str]]:
    """Yield Chinese runs as strings, and neighbouring words as one list."""
    words: list[str] = []
    for piece in pieces:
        if piece.isascii():
            words.append(piece)
            continue
        if words:
            yield words
            words = []
        yield piece
    if words:
        yield words


def _read_chinese(run: str, known: Lexicon, hits: list[Hit], left: list[str]) -> None:
    found = [hit for hit in known.in_chinese(run) if _stands(hit, run)]
    hits += found
    position = 0
    for start, end in [*((hit.start, hit.end) for hit in found), (len(run), len(run))]:
        # The second argument: no guessing of words that are in no dictionary.
        pieces = _words_of(run[position:start]) if start > position else ()
        left += [word for word in pieces if word not in _ZH_EMPTY]
        position = end


# One-character forms that are parts of other words more often than words.
_INSIDE = {
    "学": "学[习校者生期院位科费]|[大中小同文科数化医哲开]学", "爱": "可爱|爱人|爱情|爱好|爱心", "图": "地图|企图|图书|图片|意图|截图",
    "能": "功能|可能|性能|能力|能量|智能|技能|只能|才能", "用": "用户|用途|用品|费用|作用|信用|使用者|应用|常用|通用|用餐|专用",
    "可以": "", "有": "有限|有效|没有|有人|拥有|所有|有点|有时|具有|有关|只有|还有|有趣|有名", "别": "特别|区别|分别|级别|别人|别的|类别|性别|识别|别墅",
    "开": "开始|开发|开会|公开|离开|展开|开心|开源|开放|打开|分开|开通|开店|开头|开销", "养": "营养|养成|培养|养老|保养", "住": "记住|住院|住宿|忍不住",
    "车": "车间|停车|堵车|火车|晕车|自行车|车票|骑车|车站", "家": "大家|国家|专家|作家|画家|家具|家庭|人家|回家|商家|家里|家人|管家|厂家|独家|搬家",
    "短": "短信|短期|短视频|短板", "长": "长期|成长|增长|校长|家长|部长|擅长|长辈|长大|时长|长城|长度|市长|特长|队长|班长|延长|漫长|长假|长沙",
    "肉": "肌肉", "蛋": "蛋糕|蛋白", "鱼": "", "贵": "贵州|贵姓|宝贵", "热": "热爱|热情|热门|热点", "冷": "冷链|冷静", "诗": "", "得": "", "酒": "酒店|啤酒",
    "选": "选手|选项|选修|大选", "睡": "", "涨": "", "茶": "奶茶|绿茶", "叫": "", "文": "文件|文化|文学|文艺|语文|论文|作文", "烦": "麻烦", "妈": "姑妈|大妈",
    "爸": "", "红": "红酒|红包|红烧", "黑": "", "蓝": "", "绿": "", "戒": "戒指", "马": "", "花": "", "烫": "", "冰": "冰岛|冰箱|滑冰|冰激凌",
    "近": "最近|近视|近年|近期|将近", "远": "远程|永远|遥远|长远", "只": "[一两二三四五六七八九十几多这那有哪\\d]只",
    "发": "开发|发现|发生|发布|发展|头发|发票|研发|发烧|发明|出发|沙发|发音", "组": "组织|组件|组合|数组|分组|组长", "周": "周围|周报|周期|周到|周年|周边|周[一二三四五六日末]",
    "先": "先生|首先|优先|原先|领先|祖先|先进", "怕": "恐怕|可怕|哪怕", "略": "策略|战略|忽略|略微", "写": "写字楼|写真", "左": "左右|左边",
    "右": "左右|右边", "吵": "", "里": "",
    "岁": "", "喝": "", "吃": "小吃|好吃|吃惊", "要点": "", "对象": "面向对象", "先生": "", "标题": "", "习惯": "", "需要": "",
}  # fmt: skip


def _stands(hit: Hit, run: str) -> bool:
    """Whether a short form is a word here, and not part of another: 长 in 成长."""
    form = run[hit.start : hit.end]
    longer = _INSIDE.get(form)
    if not longer:
        return True
    around = run[max(0, hit.start - 3) : hit.end + 3]
    return re.search(longer, around) is None


def _read_words(
    words: list[str], known: Lexicon, hits: list[Hit], left: list[str], names: set[str], *, chinese: bool
) -> None:
    found = list(known.in_words(words))
    hits += found
    covered = {place for hit in found for place in range(hit.start, hit.end)}
    for place, word in enumerate(words):
        stem = _stem(word)
        if place in covered or word in _EN_EMPTY or stem in _EN_EMPTY:
            continue
        if chinese or any(character.isdigit() for character in word):
            names.add(word)
        left.append(stem)


def _stem(word: str) -> str:
    plain = singular(word.removesuffix("'s"))
    for ending, least in (("ing", 6), ("ed", 5), ("ly", 5), ("er", 7)):
        if plain.endswith(ending) and len(plain) >= least:
            return plain[: -len(ending)].removesuffix("e")
    return plain.removesuffix("e") if len(plain) > 4 else plain  # noqa: PLR2004


_CAPITAL = re.compile(r"(?<=[\w,;'’)] )[A-Z][\w.+#-]*|\b[A-Z][a-z]*[A-Z][\w]*|\b[A-Z]{2,}\b")


def _capitalised(text: str, known: Lexicon) -> set[str]:
    found = {_stem(folded(word)) for word in _CAPITAL.findall(text) if word not in {"I", "User"}}
    return {word for word in found if known.forms.get(word) is None and word not in _EN_EMPTY}


def _numbers(text: str) -> tuple[set[float], str]:
    """Return the numbers of a text, and the text without its digits."""
    numbers: set[float] = set()

    def take(match: re.Match[str]) -> str:
        value = float(match["n"].replace(",", "").replace("，", ""))
        numbers.add(round(value * _SCALE.get(match["unit"] or "", 1.0), 4))
        return " "

    text = _HALF.sub(lambda match: f" {_hour(match[1]):g}.5 ", text)
    text = _CLOCK.sub(lambda match: f" {int(match[1]) + int(match[2]) / 60:.4g} ", text)
    # A number inside a name ("vue3", "gpt-4o") or a month ("3月") belongs to it.
    rest = re.sub(r"(?<![a-z\d._-])" + _DIGITS.pattern + r"(?![a-z\d_]|月(?!前|后))", take, text)
    for match in _ZH_NUMBER.finditer(rest):
        value = _chinese_number(match[0].removesuffix(match["unit"] or ""))
        if value is not None and not (match[0] in {"一", "两"} and not match["unit"]):
            numbers.add(value * _SCALE.get(match["unit"] or "", 1.0))
            if len(match[0]) > 1:
                rest = rest.replace(match[0], " ")
    for word in re.findall(r"[a-z]+", rest):
        if word in _EN_NUMBERS and word != "one":
            numbers.add(_EN_NUMBERS[word])
        elif word in {"thousand", "million", "hundred"} and numbers:
            last = max(numbers)
            numbers.discard(last)
            numbers.add(last * _SCALE[word])
    return numbers, rest


def _hour(text: str) -> float:
    return float(text) if text.isdigit() else _chinese_number(text) or 0.0


_DIGIT = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}


def _chinese_number(text: str) -> float | None:
    """Read a Chinese number under ten thousand.

    >>> _chinese_number("二十五"), _chinese_number("三百零二")
    (25.0, 302.0)
    """
    total, digit = 0, 0
    for character in text:
        if character in _DIGIT:
            digit = _DIGIT[character]
        else:
            total += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[character]
            digit = 0
    return float(total + digit) if text else None


def _denies(plain: str, hits: list[Hit]) -> bool:
    """Whether the statement denies what it names; two denials cancel out."""
    if _ALLERGIC.search(plain):
        # "can't eat peanuts, is allergic" affirms the allergy.
        return bool(_NOT_ALLERGIC.search(plain)) and not re.search(r"不能|不可|can", plain)
    against = any(hit.concept.id in AGAINST for hit in hits)
    # 不要 and "no longer" are one denial each, 不介意 and 没结婚 are none: their concept tells.
    text = plain
    for form in _denying_forms():
        if form in text:
            text = text.replace(form, " ")
    marks = bool(_ZH_DENIAL.search(text) or _EN_DENIAL.search(text))
    return against != marks


@cache
def _denying_forms() -> tuple[str, ...]:
    forms = [
        form
        for form in lexicon().forms
        if _ZH_DENIAL.search(form) or _EN_DENIAL.search(form)
    ]
    return tuple(sorted(forms, key=len, reverse=True))


def denial_in(text: str) -> bool:
    """Return whether the text holds any word of denial, whatever it denies."""
    plain = simplified(folded(text[:READ_LIMIT]))
    return bool(_ZH_DENIAL.search(plain) or _EN_DENIAL.search(plain))


def leaves(text: str, value: str) -> bool:
    """Return whether the text names the value as one that holds no longer.

    >>> leaves("用户把毛地黄从Cassandra搬到CockroachDB了", "cassandra"), leaves("Lapce不用了", "Lapce")
    (True, True)
    >>> leaves("moved from Riak to Redis", "Redis"), leaves("The user no longer works at Acme", "Acme")
    (False, True)
    """
    plain, wanted = simplified(folded(text[:READ_LIMIT])), simplified(folded(value))
    at = plain.find(wanted) if len(wanted) > 1 else -1
    if at < 0:
        return False
    before, after = plain[max(0, at - 40) : at], plain[at + len(wanted) :]
    return bool(_LEFT_BEFORE.search(before) or _LEFT_AFTER.search(after))


_LEFT_BEFORE = re.compile(_LEAVES, re.IGNORECASE)
_LEFT_AFTER = re.compile(_IS_LEFT, re.IGNORECASE)
