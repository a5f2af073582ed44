"""What a text speaks of, in words of no language: concepts, and the kinds of things they are [R2].

Rule: the concepts are those of concepts.py; this file adds how questions name a whole kind ("my
pet", 哪家云) and which kinds say too little to find anything by.
"""

from __future__ import annotations

from functools import lru_cache

from dualgate.adapters.local.concepts import lexicon, simplified, singular, stretches
from dualgate.domain.items import folded

# Whether something is liked, allowed or done often tells nothing about what it is.
_TOO_COMMON = frozenset({"attitude", "quality", "frequency", "skin", "thing"})
_KINDS = {
    "animal": "宠物,动物,pet,animal",
    "backend": "后端,服务端,backend,back end",
    "car": "车,汽车,car,vehicle",
    "city": "城市,city,town",
    "cloud": "云,cloud,hosting",
    "color": "颜色,color,colour",
    "company": "公司,单位,company,employer",
    "country": "国家,country",
    "database": "数据库,database",
    "day part": "几点,what time",
    "diet": "饮食,diet",
    "editor": "编辑器,editor,ide",
    "food": "吃,喝,食物,饮料,菜,food,meal,dish,eat,drink,beverage",
    "format": "格式,format",
    "frontend": "前端,页面,界面,网页,frontend,front end,ui,web page",
    "hobby": "爱好,锻炼,运动,hobby,exercise,sport,work out",
    "job": "工作,职业,行业,干什么的,做什么的,job,profession,occupation,for a living,career",
    "language": "语言,language",
    "length": "篇幅,风格,style,length",
    "month": "几月,哪个月,which month",
    "os": "操作系统,电脑,computer,laptop,operating system",
    "person": "爱人,配偶,家人,spouse,family,relative",
    "programming language": "编程语言,programming language",
    "test framework": "测试框架,test framework",
    "tone": "语气,风格,tone,style",
    "weekday": "星期几,周几,哪天,which day,what day",
}
_NAMED: dict[str, list[str]] = {}
for _kind, _names in _KINDS.items():
    for _name in _names.split(","):
        _NAMED.setdefault(_name, []).append(f"[{_kind}]")
_LONGEST_EN = max(name.count(" ") + 1 for name in _NAMED)


@lru_cache(maxsize=16_384)
def stated(text: str) -> frozenset[str]:
    """Return the concepts that a statement holds, and their kinds in brackets.

    >>> sorted(stated("The user has two cats")) == sorted(stated("用户养了两只猫"))
    True
    """
    held = set(_concepts(text))
    return frozenset(
        name
        for concept, kind in held
        if kind not in _TOO_COMMON
        for name in (concept, f"[{kind}]")
    )


@lru_cache(maxsize=2_048)
def asked_for(text: str) -> frozenset[str]:
    """Return the concepts that a question names, and the kinds that it asks for.

    >>> sorted(asked_for("What is my pet called?")), sorted(asked_for("我的猫叫什么"))
    (['[animal]'], ['cat'])
    """
    found = {concept for concept, kind in _concepts(text) if kind not in _TOO_COMMON}
    words: list[str] = []
    for stretch in stretches(simplified(folded(text))):
        if stretch.isascii():
            words.append(singular(stretch))
            continue
        found.update(k for name, kinds in _NAMED.items() if name in stretch for k in kinds)
    for length in range(1, _LONGEST_EN + 1):
        for start in range(len(words) - length + 1):
            found.update(_NAMED.get(" ".join(words[start : start + length]), ()))
    return frozenset(found)


def _concepts(text: str) -> list[tuple[str, str]]:
    known = lexicon()
    found, words = [], []
    for stretch in stretches(simplified(folded(text))):
        if stretch.isascii():
            words.append(stretch)
        else:
            found += [(h.concept.id, h.concept.kind) for h in known.in_chinese(stretch)]
    return found + [(h.concept.id, h.concept.kind) for h in known.in_words(words)]
