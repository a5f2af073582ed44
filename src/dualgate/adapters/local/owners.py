"""Whose or what a slot is said of: a sister, Ana, the billing service [C1].

Rule: what is said of somebody or something else stands beside the user's own and replaces nothing
of it. Where the sentence names no one, or only "the service", there is no owner to tell apart.
"""

from __future__ import annotations

import re

from dualgate.adapters.local.concepts import lexicon, simplified
from dualgate.domain.items import folded

_KIN = "mother|father|mum|mom|dad|sister|brother|son|daughter|wife|husband|partner|friend|boss|colleague|neighbou?r|grandmother|grandfather|aunt|uncle|cousin"
_OWNER = re.compile(
    rf"^(?i:(?:the )?user['’]s|my)\s(?:\w+\s)?(?P<kin>(?i:{_KIN}))\b|^(?P<name>[A-Z][a-z]+)['’]s\s"
    r"|^(?:用户|我)?的?(?P<zh>[大小二]?(?:妈妈?|爸爸?|姐姐?|妹妹?|哥哥?|弟弟?|女儿|儿子|老婆|老公|妻子|丈夫|朋友|同事|老板|邻居|奶奶|爷爷|外婆|外公)|小[^的是在，]的?(?=的)|[^用我的是在，]{2,3}(?=的生日))",
)
# Which of several systems uses it: "the billing service" is one, "the service" may be any.
_SYSTEM = re.compile(
    r"^(?:the |our |my |(?:the )?user['’]s (?:side['’]s )?)?(?P<en>[\w -]{2,30}?) (?:now |still |currently |no longer |never )?"
    r"(?:uses?|runs|is|was|has|moved|migrated|switched|stores|needs|will)\b"
    r"|^(?:我们|我)?(?:把|将)(?P<moved>[^，。\s从]{1,8}?)(?:项目)?从"
    r"|^(?P<left>[^，。\s用户我们的]{1,8}?)(?:项目)?(?:现在|目前|已经|已)?(?:不(?:在|用|跑|走)|延期|推迟|改期|提前)"
    r"|^(?P<zh>[^，。\s用户我们的]{1,8}?)(?:项目|服务器?|系统|模块|组|端)?(?:现在|目前|已经|已)?(?:用|使用|采用|跑|迁|换|部署|改)",
    re.IGNORECASE,
)
_ANY_SYSTEM = frozenset(
    "user i we it they team company project app application service system backend frontend back front end"
    " database db server site website product production side everything data all code new the user's our my"
    " this that now main have has had been just recently already".split()
)
_ANY_ZH = re.compile("项目|服务器?|系统|模块|团队|公司|数据库?|[前后]端|网站|应用|生产|线上|代码|现在|全部|目前|环境")


def person(content: str) -> str | None:
    """Return the person a statement is about, where it is not the speaker.

    >>> person("The user's sister lives in Leeds"), person("Ana's birthday is on 3 May")
    ('sister', 'Ana')
    """
    match = _OWNER.search(content.strip())
    return match["kin"] or match["name"] or match["zh"] if match else None


_FOR_SOMEBODY = re.compile(
    rf"\bfor (?:them|him|her(?! (?:own)\b)|(?:(?:the )?user['’]s|my|our) (?:\w+ )?(?:{_KIN}|kids?|child(?:ren)?|team|guests?|parents?|students?))\b"
    r"|[给替帮为](?:[他她]们?|(?:用户|我)?的?(?:孩子|小孩|娃|爸|妈|父母|老婆|老公|妻子|丈夫|家人|女儿|儿子|客人|学生|团队))",
    re.IGNORECASE,
)


def is_for_somebody(content: str) -> bool:
    """Whether a wish is for somebody else: what is cooked for the children is no diet of the user.

    >>> is_for_somebody("plan meals for them without eggs"), is_for_somebody("用户要求：给孩子做饭不放盐")
    (True, True)
    """
    return bool(_FOR_SOMEBODY.search(content))


# "用户：青禾部署在…": whose statement it is, not what it is about.
TELLER = re.compile(r"^(?:用户[：:]|用户这边(?:的)?|the user:)\s*", re.IGNORECASE)


def system(content: str) -> str | None:
    """Return which system a statement is about, where it says more than "the service".

    >>> system("用户这边把云雀从DuckDB搬到InfluxDB了"), system("用户：绳结不在Hetzner了，现在部署到Netcup")
    ('云雀', '绳结')
    """
    match = _SYSTEM.search(simplified(TELLER.sub("", content.strip())))
    if match is None:
        return None
    name = folded(match["en"] or match["moved"] or match["left"] or match["zh"])
    own = [word for word in re.split(r"[\s-]+", _ANY_ZH.sub("", name)) if word and word not in _ANY_SYSTEM]
    known_value = lexicon().named(name) is not None or any(lexicon().named(word) for word in own)
    return None if not own or known_value or name[0].isdigit() else " ".join(own)


# 牛轭湖要在五月之前做完: a Chinese name has no capital, but stands at the head of what is due of it.
_HEAD_ZH = re.compile(
    r"^(?P<name>[^，。、\s\d我你他她它们咱的这那不]{2,8}?)(?:项目)?(?:必须|应该|一定|最迟|最晚|计划|预计|得|要|须|定|现在|目前|部署|运行|托管|上线|发布|跑|放|建|存|挂|搭|已经|早就|不再|不)*在"
    r"|^(?P<whose>[^，。、\s\d我你他她它们咱的这那]{2,8}?)(?:项目)?的"
)


def headed_by(content: str) -> str:
    """Return the name at the head of a Chinese statement about a piece of work; "" without one.

    >>> headed_by("用户：牛轭湖要在2026-05-19之前做完"), headed_by("用户：金盏花的部署换到了OVH"), headed_by("绳结不在Hetzner了")
    ('牛轭湖', '金盏花', '绳结')
    """
    plain = simplified(TELLER.sub("", content.strip()))
    match = _HEAD_ZH.search(plain)
    name = (match["name"] or match["whose"]) if match else ""
    known = not name or _ANY_ZH.sub("", name) == "" or lexicon().named(folded(name)) is not None
    return "" if known else name
