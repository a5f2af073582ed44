"""Numbers of one's things as slots: "the desk is set to 104 cm", "my locker number is 4711" [C1].

Rule: the thing and the kind of number are the attribute, the number is the value, so that a newer
one takes its place. Only where a setting or a label is stated; what was done ("ran 10 km") is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

READ_LIMIT = 300  # characters

_DIMENSIONS = {
    "length": "cm centimetres centimeters mm millimetres m metres meters inches inch 厘米 公分 毫米 米 英寸",
    "weight": "kg kilos kilograms g grams lbs pounds 公斤 千克 克 斤 磅",
    "temperature": "degrees °c ℃ °f 度 摄氏度",
    "time": "minutes seconds hours min 分钟 秒 秒钟 小时",
    "share": "% percent",
    "volume": "l litres liters ml 升 毫升",
}
_UNITS = {unit: name for name, units in _DIMENSIONS.items() for unit in units.split()}
_SAME_UNIT = {
    "厘米": "cm", "公分": "cm", "centimetres": "cm", "centimeters": "cm", "毫米": "mm", "millimetres": "mm",
    "米": "m", "metres": "m", "meters": "m", "公斤": "kg", "千克": "kg", "kilos": "kg", "kilograms": "kg",
    "克": "g", "grams": "g", "pounds": "lbs", "磅": "lbs", "inch": "inches", "英寸": "inches", "℃": "°c",
    "摄氏度": "°c", "分钟": "min", "minutes": "min", "秒": "seconds", "秒钟": "seconds", "小时": "hours",
    "percent": "%", "升": "l", "litres": "l", "liters": "l", "毫升": "ml",
}
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_NUMBER = r"\d+(?:[.,]\d+)?|[零一二两三四五六七八九十百千]{1,7}"
_AMOUNT = rf"(?P<value>(?:{_NUMBER})\s?(?P<unit>{_UNIT}))(?![a-z])"
_OWN = r"(?:the user['’]s|my|our|the)\s"
_THING = r"(?P<of>[a-z][a-z-]*(?:\s[a-z][a-z-]*){0,2}?)"
_SETTING = r"(?:set|adjusted|raised|lowered|kept|fixed|turned (?:up|down)|changed|moved)"
_MEASURED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_OWN}{_THING}\s(?:is|are|stays|was)\s(?:now\s|currently\s)?{_SETTING}\s(?:now\s)?(?:to|at)\s{_AMOUNT}",
        rf"^{_OWN}{_THING}\s(?:is|stays at|stays)\s(?:now\s|currently\s)?{_AMOUNT}",
        rf"\b(?:{_SETTING}|sets|raises|lowers|keeps|adjusts)\s{_OWN}{_THING}(?:[,;.]?\s(?:and\s)?(?:it\s)?(?:now\s)?(?:stays|is|is set|remains|sits))?\s(?:now\s)?(?:to|at)\s{_AMOUNT}",
        rf"^(?:用户|我)?(?:家|们)?的?(?P<of>[\u4e00-\u9fff]{{2,6}}?)(?:用户|我)?(?:已经|现在|目前|的高度|的温度)?(?:是|为|保持在?|固定在|(?:调|设|改|定|换)(?:高|低|大|小)?(?:到|成|在|为|了))[，,]?(?:以后)?(?:就|都)?(?:是|到|调到)?{_AMOUNT}",
        rf"^(?:用户|我)?的?(?P<of>[\u4e00-\u9fff]{{2,6}}?)(?:用户|我)?(?:调|改|换)(?:高|低|大|小)?了?[，,](?:现在|以后|之后|今后)?(?:就|都|一直)?(?:是|到|调到|保持)?{_AMOUNT}",
        rf"^(?:用户|我)?的?(?P<of>[\u4e00-\u9fff]{{2,6}}?)(?:现在|目前|以后|今后)(?:就|都)?(?:是|到|调到|保持)?{_AMOUNT}",
    )
)  # fmt: skip
_LABEL_EN = r"(?:number|code|id|extension|plate|size|combination)"
_LABEL_ZH = r"(?:工号|学号|编号|号码|车牌号?|鞋码|尺码|尺寸|分机号?|房号|门禁码|座位号|会员号)"
_LABELLED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{_OWN}(?P<of>(?:[a-z][a-z-]*\s){{1,3}}{_LABEL_EN})\s(?:(?:has\s)?changed to|is|was changed to)\s(?:now\s)?(?P<value>#?[\w-]*\d[\w-]*)$",
        rf"^(?:用户|我)?的?(?P<of>[\u4e00-\u9fffA-Za-z]{{0,6}}?{_LABEL_ZH})(?:现在|已经)?(?:是|为|换成了?|改成了?|改为|变成了?)(?P<value>[A-Za-z0-9-]{{1,16}}|[零〇一二三四五六七八九十百]{{1,10}})(?:号|码)?$",
    )
)  # fmt: skip
_GENERIC = frozenset("it that this one user 用户 这个 那个 它".split())


@dataclass(frozen=True, slots=True)
class Measure:
    """What number a thing has."""

    attribute: str
    value: str
    unit: str = ""


def measure(content: str) -> Measure | None:
    """Return the number that a sentence gives to a thing.

    >>> measure("The user's standing desk is set to 104 cm")
    Measure(attribute='standing desk length', value='104', unit='cm')
    >>> measure("My locker number is 4711")
    Measure(attribute='locker number', value='4711', unit='')
    """
    text = content.strip().rstrip("。.!！")[:READ_LIMIT]
    for pattern in _LABELLED:
        match = pattern.search(text)
        if match:
            return Measure(match["of"].lower(), match["value"])
    for pattern in _MEASURED:
        match = pattern.search(text)
        if match and match["of"].lower() not in _GENERIC:
            unit = match["unit"].lower()
            number = match["value"].removesuffix(match["unit"]).strip()
            name = f"{match['of'].lower()} {_UNITS[unit]}"
            return Measure(name, number, _SAME_UNIT.get(unit, unit))
    return None
