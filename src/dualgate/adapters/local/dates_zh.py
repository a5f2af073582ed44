"""Chinese date words: about fifty ways of saying them, in one table [W4].

Rule: earlier rows own their stretch of the text, so longer and surer readings stand first.
Traditional characters are read as simplified ones, one for one, so that places stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

from dualgate.adapters.local.almanac import (
    days_away,
    last_of_month,
    lunar,
    monday_of,
    month_after,
    months_away,
    valid,
)
from dualgate.adapters.local.daterules import Found, Reading, Rule, Setting, run, with_rest

_SIMPLER = str.maketrans(
    "週禮號個後農曆節國慶聖誕兩這點時間內來過剛經會將總從開現應準備當淩幾陽舊勞動兒師萬婦親禮還發報陰６１８２３４５７９０",
    "周礼号个后农历节国庆圣诞两这点时间内来过刚经会将总从开现应准备当凌几阳旧劳动儿师万妇亲礼还发报阴6182345790",
)

_NUMERALS = "零一二三四五六七八九十"
_N = r"(?:\d{1,3}|[一二两三四五六七八九十廿]{1,3})"
_DAY = r"(?:[0-3]?\d|[一二三四五六七八九十廿]{1,3})"
_MONTH = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]|正|腊|冬)"
_WEEK = r"(?:周|星期|礼拜)"
_WD = "[一二三四五六日天末1-6]"
_CLOCK = (
    r"(?:(?:[0-2]?\d|十[一二]?|[一二两三四五六七八九])点(?!击|评|赞|餐|名|头|五|个|子|到为止)(?:半|[一三]刻|[0-5]?\d分?|钟)?"
    r"|(?:[01]?\d|2[0-3])[:：][0-5]\d(?![\d:]))"
)
_PART = (
    r"(?:(?:的)?(?:凌晨|清晨|早上|早晨|一早|上午|中午|下午|傍晚|晚上|夜里|半夜|深夜|晚间|早|晚)?"
    r"(?:\s?" + _CLOCK + ")?)"
)
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "当": 0, "明": 1, "后": 2, "大后": 3}
_TURNS = {"上上": -2, "上": -1, "这": 0, "本": 0, "这个": 0, "本个": 0, "下": 1, "下下": 2}
_TURN = r"(上上|下下|上|下|这|本)"
_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}
_FEAST = (
    r"(元旦|情人节|妇女节|三八(?=节)|愚人节|劳动节|五一(?!月)|儿童节|六一(?!月)|教师节|国庆|(?<![\d二三])十一(?=假期|长假|黄金周|[之以]?前|"
    r"回|去|期间|放假|节)|万圣节|双十一|双11|双十二|平安夜|圣诞|除夕|春节|大年初一|元宵|清明|端午|七夕|中秋|重阳|腊八|母亲节|父亲节|跨年)"
    r"(?:节|假期|长假|黄金周)?"
)


def simplified(text: str) -> str:
    """Return text of the same length in which traditional date words read as simplified."""
    return text.translate(_SIMPLER)


def find(setting: Setting) -> Iterator[Found]:
    """Yield the Chinese dates of the text."""
    if any("\u4e00" <= character <= "\u9fff" for character in setting.text):
        yield from run(_RULES, setting, lambda start, end: _past(setting.text, start, end), zh=True)


_BEHIND = re.compile(
    r"(?<![说讲问])了(?![吧解结])|[^经通不]过(?![期几两去来年节程敏])|刚|已经?|当时|曾|上次|以来|来着|那天|那会儿?|回来的|是在"
)
_AHEAD = re.compile(
    r"要|[^开机约社不]会(?!议)|将|得[^到了]|打算|准备|计划|预定|预计|截止|到期|记得|提醒|答应|保证|承诺|之前|前(?=[交给完发搞要])|"
    r"安排|约了|定在|订了|出发|为止|再说|想"
)


def _past(text: str, start: int, end: int) -> bool | None:
    """Whether the clause around a word speaks of the past, of the future, or does not say."""
    before = re.split(r"[，。！？；,.!?;\n]", text[max(0, start - 30) : start])[-1]
    after = re.split(r"[，。！？；,.!?;\n]", text[end : end + 30], maxsplit=1)[0]
    clause = f"{before}　{after}"
    if _AHEAD.search(clause) or after.startswith(("前", "之前", "以前", "截")):
        return False
    return True if _BEHIND.search(clause) else None


def _number(text: str) -> int:
    """Read a Chinese or Arabic number under a thousand.

    >>> _number("廿三"), _number("十五"), _number("两"), _number("07")
    (23, 15, 2, 7)
    """
    if text.isdigit():
        return int(text)
    text = text.replace("两", "二").replace("廿", "二十").replace("正", "一")
    text = text.replace("腊", "十二").replace("冬", "十一")
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return int("".join(str(_NUMERALS.index(c)) for c in text))
    return (_NUMERALS.index(tens[-1]) if tens else 1) * 10 + (_NUMERALS.index(ones[0]) if ones else 0)


def _weekday(text: str) -> int:
    return 6 if text in "日天" else 5 if text == "末" else _number(text) - 1


def _full(match: re.Match[str], _setting: Setting, _past: bool | None) -> Reading | None:
    year = int(match[1]) + (2000 if len(match[1]) == 2 else 0)  # noqa: PLR2004
    day = valid(year, _number(match[2]), _number(match[3]))
    return None if day is None else Reading(date=day, keep=True, day_named=True)


def _spelled_year(match: re.Match[str], _setting: Setting, _past: bool | None) -> Reading | None:
    year = int("".join(str(_NUMERALS.index(c)) for c in match[1].replace("〇", "零")))
    month, day = (_number(part) if part else None for part in (match[2], match[3]))
    first = valid(year, month or 1, day or 1)
    if first is None:
        return None
    if day:
        return Reading(date=first, keep=True, day_named=True)
    last = last_of_month(first) if month else date(year, 12, 31)
    return Reading(date=first, last=last, precision="month" if month else "year", keep=True)


def _whole_year(match: re.Match[str], _setting: Setting, _past: bool | None) -> Reading:
    return replace(_in_year(int(match[1]), match[2] or ""), keep=True)


def _within(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    last = _away(setting.today, _number(match["n"]), bool(match["half"]), match["unit"], 1)
    return None if last is None else replace(last, said=f"{last.date}前")


def _these_days(_match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    first, last = setting.today, setting.today + timedelta(days=1)
    return Reading(date=first, last=last, precision="week", said=f"{first}前后")


def _year_month(match: re.Match[str], _setting: Setting, _past: bool | None) -> Reading | None:
    first = valid(int(match[1]), _number(match[2]), 1)
    if first is None:
        return None
    return Reading(date=first, last=last_of_month(first), precision="month", keep=True)


def _lunar_day(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    month, day = _number(match[2]), _number(match[3])
    shift = _YEARS.get((match[1] or "").removesuffix("年"))
    years = range(-1, 2) if shift is None else (shift,)
    days = [d for year in years if (d := lunar(setting.today.year + year, month, day)) is not None]
    ahead = [d for d in days if (d <= setting.today if past else d >= setting.today)]
    if not days:
        return None
    return Reading(date=(ahead[-1] if past else ahead[0]) if ahead else days[-1])


def _month_day(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    month, day = _number(match[2]), _number(match[3])
    shift = _YEARS.get((match[1] or "").removesuffix("年"))
    found = (
        setting.month_day(month, day, past)
        if shift is None
        else valid(setting.today.year + shift, month, day)
    )
    return None if found is None else with_rest(Reading(date=found, day_named=True), match[4])


def _turned_month_day(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    first = month_after(setting.today, _TURNS[match[1]])
    found = valid(first.year, first.month, _number(match[2]))
    return None if found is None else with_rest(Reading(date=found, day_named=True), match[3])


def _bare_day(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    found = setting.day_of_month(_number(match[1]), past)
    return None if found is None else with_rest(Reading(date=found, day_named=True), match[2])


def _bare_days(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    first = setting.day_of_month(int(match[1]), past)
    last = None if first is None else valid(first.year, first.month, int(match[2]))
    return None if first is None or last is None or last < first else Reading(date=first, last=last)


def _near_day(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    found = setting.today + timedelta(days=_DAYS[match[1]])
    return with_rest(Reading(date=found), match[2])


def _part_of_near_day(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    shift = {"昨": -1, "今": 0, "当": 0, "明": 1, "后": 2, "前": -2}[match[1]]
    part = {"早": "早上", "晚": "晚上", "晨": "早晨", "夜": "夜里"}[match[2]]
    found = setting.today + timedelta(days=shift)
    return Reading(date=found, precision="time", said=f"{found}{part}")


def _turned_weekday(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    monday = monday_of(setting.today) + timedelta(weeks=_TURNS[match[1]])
    if match[2] == "末":
        first = monday + timedelta(days=5)
        return Reading(date=first, last=first + timedelta(days=1), precision="week")
    return with_rest(Reading(date=monday + timedelta(days=_weekday(match[2]))), match[3])


def _recurring(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    weekday = match.groupdict().get("weekday")
    day = match.groupdict().get("day")
    if weekday:
        return Reading(date=setting.weekday(_weekday(weekday), past=False), recurring=True)
    if day:
        found = setting.day_of_month(_number(day), past=False)
        return None if found is None else Reading(date=found, recurring=True)
    return Reading(date=setting.today, recurring=True)


def _recurring_date(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    found = setting.month_day(_number(match[1]), _number(match[2]), past=False)
    return None if found is None else Reading(date=found, recurring=True)


def _plain_weekday(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    if match[1] == "末":
        first = setting.weekday(5, past)
        if past is not True and setting.today.weekday() == 6:  # noqa: PLR2004  it is Sunday
            first = setting.today - timedelta(days=1)
        return Reading(date=first, last=first + timedelta(days=1), precision="week")
    return with_rest(Reading(date=setting.weekday(_weekday(match[1]), past)), match[2])


def _turned_week(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    monday = monday_of(setting.today) + timedelta(weeks=_TURNS[match[1]])
    part = match[2] or ""
    first, last = {"初": (0, 1), "一开始": (0, 1), "中": (2, 2), "内": (0, 6)}.get(part, (0, 6))
    return Reading(
        date=monday + timedelta(days=first), last=monday + timedelta(days=last), precision="week"
    )


_PARTS_OF_MONTH = {"初": (1, 5), "上旬": (1, 10), "中": (11, 20), "中旬": (11, 20), "下旬": (21, 31)}


def _in_month(first: date, part: str) -> Reading:
    end = last_of_month(first)
    if part in {"底", "末", "底前"}:
        return Reading(date=end, precision="day")
    if part in _PARTS_OF_MONTH:
        start, stop = _PARTS_OF_MONTH[part]
        return Reading(
            date=first.replace(day=start), last=first.replace(day=min(stop, end.day)), precision="week"
        )
    return Reading(date=first, last=end, precision="month")


def _turned_month(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    return _in_month(month_after(setting.today, _TURNS[match[1]]), match[2] or "")


def _month_end(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    return _in_month(setting.today.replace(day=1), match[1])


def _named_month(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    month = _number(match[2])
    shift = _YEARS.get((match[1] or "").removesuffix("年"))
    year = setting.today.year + (shift or 0)
    if shift is None:
        if past is True and month > setting.today.month:
            year -= 1
        elif past is not True and month < setting.today.month - (0 if past is False else 2):
            year += 1
    first = valid(year, month, 1)
    return None if first is None else _in_month(first, match[3] or "")


def _turned_year(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    return _in_year(setting.today.year + _YEARS[match[1]], match[2] or "")


def _year_end(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    return _in_year(setting.today.year, match[1])


def _in_year(year: int, part: str) -> Reading:
    spans = {
        "底": ((12, 31), (12, 31)), "末": ((12, 31), (12, 31)), "初": ((1, 1), (2, 28)),
        "中": ((6, 1), (7, 31)), "上半年": ((1, 1), (6, 30)), "下半年": ((7, 1), (12, 31)),
        "春天": ((3, 1), (5, 31)), "夏天": ((6, 1), (8, 31)), "秋天": ((9, 1), (11, 30)),
        "冬天": ((12, 1), (12, 31)), "暑假": ((7, 1), (8, 31)), "寒假": ((1, 15), (2, 20)),
    }  # fmt: skip
    first, last = spans.get(part, ((1, 1), (12, 31)))
    start, end = date(year, *first), date(year, *last)
    precision = "day" if start == end else "month" if part else "year"
    said = f"{year}年{part}" if part and precision != "day" else None
    return Reading(date=start, last=end, precision=precision, said=said)


def _offset(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    number, half, unit, direction = match["n"], match["half"], match["unit"], match["way"]
    amount = _number(number) if number else 0
    sign = -1 if direction in {"前", "之前", "以前"} else 1
    return _away(setting.today, sign * amount, bool(half), unit, sign)


def _away(today: date, amount: int, half: bool, unit: str, sign: int) -> Reading | None:
    precision = "day"
    found: date | None
    if unit in {"天", "日"}:
        found = days_away(today, amount)
    elif unit in {"周", "星期", "礼拜"}:
        found, precision = days_away(today, 7 * amount), "week"
    elif unit == "月":
        found, precision = months_away(today, amount), "month"
        found = days_away(found, 15 * sign) if half else found
    else:
        found, precision = months_away(today, 12 * amount + (6 * sign if half else 0)), "year"
        precision = "month" if half else "year"
    if found is None:
        return None
    return Reading(date=found, precision=precision, said=str(found))


def _few_days_ago(_match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    first, last = setting.today - timedelta(days=6), setting.today - timedelta(days=2)
    return Reading(date=first, last=last, precision="week", said=f"{last}前后")


def _feast(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    shift = _YEARS.get((match[1] or "").removesuffix("年"))
    if shift is None:
        found = setting.feast(match[2], past)
    else:
        year = Setting(today=date(setting.today.year + shift, 1, 1), text="")
        found = year.feast(match[2], past=False)
    return None if found is None else Reading(date=found, said=f"{match[0]}（{found}）")


def _quarter(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    number = int(match[2]) if match[2].isdigit() else _number(match[2])
    year = setting.today.year + _YEARS.get((match[1] or "").removesuffix("年"), 0)
    first = date(year, 3 * number - 2, 1)
    last = last_of_month(month_after(first, 2))
    return Reading(date=first, last=last, precision="month", said=f"{year}年第{number}季度")


def _turned_quarter(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    here = date(setting.today.year, 3 * ((setting.today.month - 1) // 3) + 1, 1)
    first = month_after(here, 3 * _TURNS[match[1]])
    said = f"{first.year}年第{(first.month + 2) // 3}季度"
    return Reading(date=first, last=last_of_month(month_after(first, 2)), precision="month", said=said)


def _clock(_match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    return Reading(date=setting.today, precision="time", keep=True, clock=True)


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_IN_YEAR = r"((?:大前|前|去|今|本|明|后)年)?的?\s?"

_RULES: tuple[Rule, ...] = (
    (_rule(r"(?<!\d)(\d{4}|\d{2}(?=年))\s?[年./-]\s?(1[0-2]|0?[1-9])\s?[月./-]\s?([0-3]?\d)(?!\d)[日号]?"), _full),
    (_rule(r"(?<!\d)(\d{4})\s?年\s?(1[0-2]|0?[1-9])\s?月(?!\d)"), _year_month),
    (_rule(r"(二[〇零][〇零一二三四五六七八九]{2})\s?年(?:\s?(1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月(?:\s?(" + _DAY + r")[日号])?)?"), _spelled_year),
    (_rule(r"(?<!\d)((?:19|20)\d{2})\s?年(底|末|初|中|上半年|下半年|春天|夏天|秋天|冬天|暑假|寒假)?(?!\s?\d{1,2}\s?月)"), _whole_year),
    (_rule(r"每(?:年|逢)的?\s?(1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月\s?(" + _DAY + r")[日号]?"), _recurring_date),
    (_rule(r"每(?:个)?月(?:的)?\s?(?P<day>" + _DAY + r")[日号]"), _recurring),
    (_rule(r"(?:每(?:逢|隔一|两|个)?|隔|单|双|逢)" + _WEEK + r"(?P<weekday>" + _WD + r")(?:[、和跟到至]?" + _WEEK + "?[一二三四五六日])*" + _PART), _recurring),
    (_rule(_WEEK + r"(?P<weekday>[一二三四五六])[二三四五六日]+" + _PART), _recurring),
    (_rule(r"(?<![上下这本])" + _WEEK + r"(?P<weekday>" + _WD + r")(?:[、和跟到至]" + _WEEK + "?" + _WD + ")*(?=" + _PART + r"(?:都|固定|雷打不动|一般|通常|总|例行))"), _recurring),
    (_rule(r"周[一二三四五六][、和到至]周?[一二三四五六日](?!\d)(?=[^，。]{0,4}(?:上班|休|有课|轮))"), _recurring),
    (_rule(r"每(?:天|日|晚|早|周|月|年|个?工作日|个?季度|个?星期|个?礼拜|个月|逢)|天天|隔天"), _recurring),
    (_rule(r"(?:农历|阴历|旧历)(?:的)?" + _IN_YEAR + "(" + _MONTH + r")月(?:初)?(" + _DAY + r")[日号]?"), _lunar_day),
    (_rule(_IN_YEAR + r"(正|腊)月(?:初)?([一二三四五六七八九十廿]{1,3})"), _lunar_day),
    (_rule(_IN_YEAR + r"(?<![\d.])(1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月\s?(?:份)?\s?(" + _DAY + r")(?![\d个])\s?[日号]?(" + _PART + ")"), _month_day),
    (_rule(_TURN + r"个?月(?:的)?\s?(" + _DAY + r")\s?[日号](" + _PART + ")"), _turned_month_day),
    (_rule(r"(大前|大后|前|昨|今|明|后|当)(?:天|日)(?!的?数据格式)(" + _PART + ")"), _near_day),
    (_rule(r"(昨|今|明|当|后|前)(早|晚|晨|夜)(?!期)"), _part_of_near_day),
    (_rule(_TURN + r"(?:一?个)?" + _WEEK + "(" + _WD + ")(" + _PART + ")"), _turned_weekday),
    (_rule(_TURN + r"(?:一?个)?(?:周|星期|礼拜)(初|中|内)?(?!期|到|年|岁|边|围|一|二|三|四|五|六|日)"), _turned_week),
    (_rule(_TURN + r"一?个?月月?(初|底|末|中旬|上旬|下旬|中)?(?!亮|经|饼|台)"), _turned_month),
    (_rule(_TURN + r"一?个?季度"), _turned_quarter),
    (_rule(_IN_YEAR + r"第?([一二三四1-4])季度"), _quarter),
    (_rule(r"(?P<n>" + _N + r")\s?个?(?P<half>半)?(?P<unit>天|日|周|星期|礼拜|月|年)(?P<way>前|之前|以前|后|之后|以后)(?!的?时间)"), _offset),
    (_rule(r"(?P<n>" + _N + r")\s?个?(?P<unit>月|年)(?P<half>半)(?P<way>前|之前|以前|后|之后|以后)"), _offset),
    (_rule(r"(?P<n>)(?P<half>半)个?(?P<unit>月|年)(?P<way>前|之前|以前|后|之后|以后)"), _offset),
    (_rule(r"(?P<n>" + _N + r")\s?个?(?P<half>半)?(?P<unit>天|周|星期|礼拜|月|年)(?:之|以)?内(?!存|容|部|网)"), _within),
    (_rule(r"这[两几]天|今明两天"), _these_days),
    (_rule(r"前几天|前两天|几天前|前些天|前阵子|前一阵"), _few_days_ago),
    (_rule(_IN_YEAR + _FEAST), _feast),
    (_rule(_IN_YEAR + r"(?<![\d.])(1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月(?:份)?(初|底|末|中旬|上旬|下旬|中)?(?![\d个])"), _named_month),
    (_rule(r"(大前|前|去|今|本|明|后)年(底|末|初|中|上半年|下半年|春天|夏天|秋天|冬天|暑假|寒假)?"), _turned_year),
    (_rule(r"(?<![去今明前后本全半])年(底|末(?!尾)|中(?!无)|初)(?!级)"), _year_end),
    (_rule(r"(?<![\d个上下这本])月(底|末|初|中旬|上旬|下旬)"), _month_end),
    (_rule(r"(?<![上下这本每个\d])" + _WEEK + "(" + _WD + ")(" + _PART + r")(?!期|年|到|边)"), _plain_weekday),
    (_rule(r"(?<![\d.第_A-Za-z月/:-])([0-3]?\d)\s?[-~～到至]\s?([0-3]?\d)\s?[号日](?!楼|线|院|店|机|元|内)"), _bare_days),
    (_rule(r"(?<![\d.第_A-Za-z月/:-])([0-3]?\d)日(?!元|圆|本|内|游|志|常|期|子|系|线|均|活|后|前|夜)(" + _PART + ")"), _bare_day),
    (_rule(r"(?<![\d.第_A-Za-z月/:-])([0-3]?\d|[一二三]?十[一二三四五六七八九]?|廿[一二三四五六七八九]?)\s?号(?!楼|线|院|店|码|机|位|选手|公馆|文|仓|库|电池)(" + _PART + ")"), _bare_day),
    (_rule(r"(?<![\d:.])(?:凌晨|早上|上午|中午|下午|傍晚|晚上|夜里|半夜)?\s?" + _CLOCK), _clock),
)  # fmt: skip
