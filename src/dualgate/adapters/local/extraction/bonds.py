"""Bonds: clauses that cannot stand alone, by their form, whatever the model thinks of them.

Rule: only forms that a grammar would name: a heading with its colon, a condition before its
consequence, an adverbial of time or scope left over by the cutting. Everything else is the model's.
"""

from __future__ import annotations

import re

from dualgate.adapters.local.extraction.clauses import Clause

_CONDITION = re.compile(
    r"^(?:如果|要是|只要|凡是|但凡|每次|一旦|除非|碰到|遇到|涉及|关于|至于)|^[当等].{1,12}(?:以后|之后|的时候|完|到|好)了?$"
    r"|(?:的话|的时候|之前|以后|之后|期间)$|(?<![小平同暂准按临随及定限计工课学闲几])时$"
    r"|^(?:以后|今后|下次)(?:我|你)(?:发|问|说|给|贴|让|再)[^不别要用]{1,14}$"
    r"|^\W*(?:(?:and|but|so|also|from now on|please|(?:just )?so you know|just)\W+)*(?:if|when|whenever|every time|any time|anytime|unless|before|after|once|for any|in case|as soon as|as for)\b",
    re.IGNORECASE,
)
# What a condition would bring about stands in it already: 凡是退款的都转给主管, "whenever I fly I get a cold".
_CONSEQUENCE = re.compile(
    r"^(?:凡是|但凡|每次|只要|一旦|遇到|碰到|涉及|如果|要是).{2,}(?:都|就|一律|一概|统一|必须|先|别|不要|不许|不能|直接|默认|得|给我|转)"
    r"|\bi(?:'m|'ve|'d|'ll)?\b.*\b(?:i|i'm|i've|i'd|i'll|it's|my)\b|^.{9,}(?<!\bi )(?<!\byou )(?<!\bwe )(?<!\bto )\b(?:give|use|say|tell|keep|ask|skip|show|don't|never|always|start|stop|please|answer|reply|write|add|put|send|leave|call|assume|list|cite|means?)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"^(?:万一|假如|假设|倘若|如果|要是|每当|每次|当)|(?:的时候|的话)$|^\W*(?:(?:and|but|so|also|please|(?:just )?so you know|just)\W+)*(?:if|when|whenever|every time|any ?time)\W+\w", re.IGNORECASE)
DANGLING_LIMIT = {"zh": 16, "en": 60}  # characters; what is longer holds more than a condition
_TIME = (
    r"(?:\d{1,4}[年月号日./:点-]?)+|今年|明年|去年|年底前?|月底前?|上个?月|下个?月|[上下每这]?(?:周|星期|礼拜)[一二三四五六日天末]?|每[天月年]|早上|晚上|上午|下午|中午|凌晨|周末|工作日"
    r"|[一二三四五六七八九十两半]+[点月号日年]|之前|以前|前|后|左右|开始|起|到|至|的"
)
_ADVERBIAL = re.compile(
    rf"^(?:{_TIME}|[\s\d])+$"
    r"|^(?:长期|永远|一直|以后都?|以后一直)?(?:都?(?:这样|这么(?:弄|来|做)?|如此|按这个来?))(?:吧|就行)?$"
    r"|^(?:没有?例外|风雨无阻|雷打不动|说到做到|谁劝都没用|真的|一个字都不行|无一例外|绝对|务必|切记|记[住牢好]了?)$"
    r"|^\W*(?:(?:and|or|by|on|at|from|until|till|before|after|since|in|every|each|for|about|around|the|this|next|last)\s+)*"
    r"(?:\d[\d:.,/-]*(?:st|nd|rd|th|am|pm|k|%)?|the|of|a|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|mon\w*|tues\w*|wed\w*"
    r"|thu\w*|fri\w*|sat\w*|sun\w*|spring|summer|autumn|fall|winter|morning|afternoon|evening|night|weekends?|weekdays?|time|session|day|week|month|year|s|to|-|\s|,)+$"
    r"|^\W*(?:ever|always|never again|no exceptions|every (?:single )?time|from (?:here on|now on|today)|going forward|final|full stop|period|in general"
    r"|across the board|as a rule|at all|at most|tops|max(?:imum)?|minimum|not one more|incl(?:uding)?\.? tax|no matter what)\W*$",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:(?:我|我们|咱们?)?(?:跟|和|与).{1,6}(?:商量|聊|谈|讲|说)(?:过|好|定|妥)?了?|(?:我)?(?:其实)?上次(?:我)?(?:说|记|讲)错了|(?:我)?(?:先)?(?:跟你|给你)?(?:说|讲|交代|报备|补充)(?:一?下|个)?(?:情况|背景|事情?)?"
    r"|(?:因为)?我(?:真的|就是|实在|很|最|是)?(?:不(?:太|怎么)?(?:喜欢|习惯|爱看|爱听|想要)|讨厌|看不惯|喜欢|习惯)|开会定的|讨论了?半天|想了(?:很久|半天|好久)|想好了|定了|(?:先)?(?:记|说)一下|是这样的?|情况是这样的?|背景(?:说|补充)?(?:一下)?|我(?:真的)?(?:要)?(?:疯|崩溃|服|醉|吐)了|不骗你|你(?:都)?知道的|懂的都懂"
    r"|(?:那就?)?(?:就)?(?:说好|这么定|这样|定)了|那就这么(?:办|定)|(?:我跟你[讲说])?我(?:们|们家)?.{0,6}是这样的|目标先说死|一直(?:就|都)?(?:是)?这(?:个)?标准|老师说了|(?:又|终于|转眼|眼看)?(?:又|就|快)?到(?:了)?(?:年底|月底|年末|年初|月初|季末|周末|周[一二三四五六日]|星期[一二三四五六天]|春节|过年|暑假|寒假|开学|考试周)了?|自我介绍(?:一)?下|别(?:再)?烦我了?|(?:听|懂)[见到]?没有?|够了|有完没完|没商量|(?:我们|咱们)?(?:内部|团队|公司|组里)?(?:已经|最后|终于|都)?(?:拍板|敲定|谈妥|说定|商定|定下来)了?|(?:原来|以前|之前|旧)的?(?:那个|那条|那套)?(?:偏好|要求|规矩|设定|习惯|说法|安排)?(?:都)?(?:取消|作废|不算|不要|不用|删掉|忘掉|忘了)了?|(?:请|麻烦)?你?(?:把|将).{1,14}(?:忘|删|抹)(?:掉|了|除)?|(?:请|就)?(?:不要|别)再?(?:记|提起?)(?:了|它|这个)?)(?:啊|哈|吧|呀)?$"
    r"|^\W*(?:we|i)(?:'ve| have)? (?:talked (?:it|about it|this)?\s?(?:through|over|about it)?|discussed (?:it|this)|settled it|decided|thought about it|agreed(?: on (?:it|that))?"
    r"|mean (?:it|that)|know|guess|think|swear|said (?:it|so)|promise)(?: already| today)?\W*$"
    r"|^\W*(?:(?:because|cause|since) )?i (?:really |just |simply )?(?:don't|do not) (?:really )?(?:like|want|need|enjoy) (?:it|that|them|those|this)\W*$"
    r"|^\W*(?:leave me alone(?: with .{1,20})?|shut up|enough|is (?:that|it) (?:so|that|too) (?:hard|much)|for (?:god's|christ's|heaven's) sake|for crying out loud)\W*$"
    r"|^\W*(?:it(?:'s| is) (?:decided|final|settled|official|agreed)|that(?:'s| is) (?:final|settled|decided)|(?:it's )?the way i like it|that(?:'s| is) (?:how|the way) i (?:like|want|prefer) it(?: best| to be)?|i (?:work|learn) best (?:that way|like that)|that (?:helps|suits) me(?: a lot| best| most)?|(?:please )?(?:forget|delete|erase) (?:about )?(?:my|our|everything about|all about) [\w ]{1,30}|(?:please )?(?:don't|do not) (?:note|remember|save|store|keep|write down) (?:it|that|this)(?: (?:again|down|either))?|(?:forget|drop|ignore) (?:the|what i said|my) (?:old|before|earlier|previous)(?: \w+)?)\W*$"
    r"|^\W*(?:(?:hi|hey|hello|good \w+)\W+)*(?:i|we)(?:'d| would)? (?:could use|need|like|want) (?:a hand|(?:some |your )?(?:help|advice|input|feedback)|your opinion) (?:with|on|for|about|in)\b.*$"
    r"|^\W*(?:scratch (?:that|what i (?:said|told you)).{0,30}|big news|quick (?:intro|note|one)|update|context|background|heads up|long story short|ok(?:ay)? decided|decided|it's done|(?:sorry,? )?(?:it|this)(?:'s| is| will be| may be| might be) (?:a bit )?(?:long|messy|all over the place)"
    r"|my (?:new |absolute |all-time )?favou?rite (?:hobby|thing|part|pastime|activity|game)|no (?:backing out|going back|turning back)(?: now)?|non[- ]?negotiable(?: for .{1,30})?"
    r"|(?:a couple(?: of)?|a few|some|one|two|three|four|\d) (?:\w+ )?(?:things?|rules?|points?|facts?|notes?|requests?)\b.{0,40}|big (?:year|day|week|month)|(?:sorry,? )?long (?:one|story|message))\W*$",
    re.IGNORECASE,
)
_LEANING = re.compile(
    r"^(?:就?叫|名(?:字)?叫)[^我你]|^(?:方向|主题|题材)是|^(?:是|而是)(?:不|因为|为了|怕)|^给.{1,16}(?:用|做|写|看|准备)的$"
    r"|\b(?:agreed|said|promised|wrote|put) (?:on )?(?:that|this|it)\b|\b(?:one|ones) (?:again|ever|anymore|any more)\W*$"
    r"|^\W*(?:(?:and|but|so|cause|because)\s+)*i (?:literally |really |just |simply |honestly |physically )?(?:can't|cannot|won't|couldn't) (?:go (?:over|above|beyond)|deal|cope|do it|take it|stand it|afford it|handle it)\b.{0,12}$"
    r"|^(?:这(?:些|个|样|点|种|事)?|那(?:些|个|样|种)?|它们?|就(?=这|吃|按|行)|都(?=这|按|是|要|得|不)|也(?=不|别|没|要|得)|一直(?:都)?(?=不|这|是|没)|不然|否则|要不然|毕竟|反正|无论|不管|任何|其他|其余|剩下|多了|少了|长了|短了|太|再多|再少)"
    r"|^(?:我|你)?(?:真的|实在|根本|完全)?(?:受|撑|扛|顶|忍|看|记|吃|学|做|走|喝|用)(?:不(?:住|了|完|下|动|起|进去?)|得(?:住|了))(?:了)?$"
    r"|^\W*(?:(?:and|but|so|or|because|since)\s+)*(?:it|it's|that|that's|this|those|these|which|them|such|same|either way|otherwise|anything (?:else|over|longer|more)|nothing else|everyone)\b(?! is my| are my)"
    r"|^\W*(?:(?:and|but|so)\s+)*(?:please |just )?(?:never|always|don't|do|keep|use|leave|put|start|stop)\b.{0,24}\b(?:it|them|that|this|those)\W*$"
    r"|^\W*(?:(?:and|but|so)\s+)*(?:please |just )?(?:(?:never|don't|do not) \w+ (?:one|any|it|them|that)\b.{0,24}|(?:keep|stick) to (?:it|that|them|this|these|those)\b.{0,30})$"
    r"|\b(?:to it|of it|with it|about it|it all|like that|this way|that way|in that|for that|that much|it)\W*$",
    re.IGNORECASE,
)
_HEADING_LIMIT = 40


_DENIAL = re.compile(
    r"^(?:我|其实|也|又){0,3}(?:并?不是|没有?说|没有?讲)(?:不|没|讨厌)"
    r"|^\W*(?:it's|it is) not that i (?:don't|hate|dislike|can't)\b|^\W*i'm not saying i (?:don't|hate|can't)\b",
    re.IGNORECASE,
)


def bound(left: Clause, right: Clause) -> bool:
    """Tell whether `right` and `left` are one statement by their form.

    >>> from dualgate.adapters.local.extraction.reading import read_text
    >>> a, b = read_text("whenever I paste a log, give me the cause first").clauses
    >>> bound(a, b)
    True
    """
    if left.mark in "。！？!?；;\n" and left.mark:
        return False
    return (
        (left.mark in ":：" and bool(left.mark) and left.end - left.start <= _HEADING_LIMIT)
        or bool(_DENIAL.search(left.text.strip()))
        or bool(_is_condition(left.text) and not left.mark.startswith("."))
        or is_adverbial(right.text)
        or leads_on(left.text)
        or bool(_AGREED.search(right.text.strip()))
        or bool(_LEFT.search(left.text.strip()) and _TAKEN_UP.search(right.text.strip()))
    )


def _is_condition(text: str) -> bool:
    plain = text.strip().replace("’", "'")
    return bool(_CONDITION.search(plain)) and not _CONSEQUENCE.search(plain)


# "X is no longer at A, we deploy to B now": the second half says what the first has given way to.
_LEFT = re.compile(
    r"不.{0,6}了$|[换改]了$|腻了$|延期|推迟|提前|作废|停用|没再|以前(?:那个|的)"
    r"|\b(?:no longer|not any ?more|used to|(?:is|am|'m|are) over|done with|gave up|given up|migrated|moved|switched|left|dropped|ditched|postponed|delayed|rescheduled|new (?:deadline|date|plan|home|job|number))\b",
    re.IGNORECASE,
)
# "Plan B it is, let's go with that": alone it says nothing.
_AGREED = re.compile(
    r"^\W*(?:so\W+)?(?:let's|we'll|i'll|we will|i will|we|i)(?:'re| are| am)? (?:go(?:ing)?|stick|stay|run) with (?:that|this|it|those)(?: one)?\W*$"
    r"|^就(?:按|照|用|选)(?:这个|那个|它|这么)(?:来|定|办|做|吧)?了?$",
    re.IGNORECASE,
)
_TAKEN_UP = re.compile(
    r"^(?:现在|如今|改|换成|新的|目前)"
    r"|^\W*(?:(?:and|but|so)\W+)*(?:now\b|these days\b|instead\b|the new\b|(?:it|that)(?:'s| is| are)\b.*\bnow\b|(?:we|i|they)(?:'re| are|'m| am)? .{1,40}\bnow\W*$|the .{1,30} (?:is|are|runs?|lives?) .{1,30}\bnow\W*$)",
    re.IGNORECASE,
)


_ORDER = re.compile(
    r"^(?:那|所以|还有|另外|请)*(?:以后|今后|往后|从现在|从今)(?!再|就没|没|不会|有)"
    r"|^\W*(?:(?:and|so|also|please|but)\W+)*(?:from now on|going forward|from here on)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"^我(?:一直|从小)?(?:对|有|是|在|叫|姓|住|吃|养|不吃|不能|没|的)|^\W*(?:i'm|i am|i have|i live|i work|my)\b",
    re.IGNORECASE,
)


def parts(left: Clause, right: Clause) -> bool:
    """Tell whether an order for later follows what the user is or has: each changes on its own.

    >>> from dualgate.adapters.local.extraction.reading import read_text
    >>> parts(*read_text("I'm allergic to nuts, from now on keep it short").clauses)
    True
    """
    told = left.text.strip().replace("’", "'")
    return bool(_ORDER.search(right.text.strip())) and bool(_STATES.search(told))


def dangles(text: str) -> bool:
    """Tell whether this is a condition without what it would bring about: alone it states nothing.

    >>> dangles("when I ask about snacks"), dangles("when I write NOW just give the command")
    (True, False)
    >>> dangles("万一以后要支持多租户"), dangles("每次改完都先跑测试")
    (True, False)
    """
    plain = text.strip().replace("’", "'")
    short = len(plain) <= DANGLING_LIMIT["en" if plain.isascii() else "zh"]
    return short and bool(_SUPPOSED.search(plain)) and not _CONSEQUENCE.search(plain)


def leans(text: str) -> bool:
    """Words that point back at what was just said: alone they state nothing one could remember.

    >>> leans("那样我才记得住"), leans("I love it"), leans("I love jazz")
    (True, True, False)
    """
    return bool(_LEANING.search(text.strip()))


def leads_on(text: str) -> bool:
    """Words that only open the clause after them: "Recently, I took up weaving"."""
    return bool(_LEADS_ON.search(text.strip()))


_LEADS_ON = re.compile(
    r"^(?:除此之外|除了这些|另外|此外|其实|不过|而且|所以)?[，,]?(?:我)?(?:最近|近来|近期|这段时间|平时|有时候?|[昨今明前后]天|昨晚|今晚|其实|另外|此外|除此之外|除了这些|默认(?:情况下|的话)?|一般(?:来说|情况下|来讲)?|通常|总的来说|总体上|原则上|长期来(?:看|说)|按(?:惯例|老规矩|习惯)|老规矩|跟以前一样|和之前一样|照旧|(?:我)?还是那句话|改一?下|更正(?:一下)?|更新(?:一下)?|补充(?:一下)?|纠正(?:一下)?)$"
    r"|^\W*(?:(?:and|but|so|also|well|oh|okay|ok|yes)\W+)*(?:recently|lately|actually|sometimes|besides|in addition|by the way|yesterday|today|tonight|tomorrow|last night|in (?:the )?future|usually|nowadays|these days|in my (?:free|spare) time|as for \w+"
    r"|from (?:here|now) on|going forward|from today(?: on)?|starting (?:now|today)|(?:in order |just )?to [a-z]+ (?:the|my|our|a|an|this|that|some|it)\b[\w' -]{0,30}|by default|in general|generally(?: speaking)?|as (?:a rule|ever|always|usual|before|a standing rule)|all in all|on the whole|normally|my usual|same as (?:ever|always|before|usual)|for all our (?:chats|talks|sessions)|correction|update|change of plans?|small (?:change|update|correction)|new rule|standing (?:rule|request|order))\W*$",
    re.IGNORECASE,
)


def is_adverbial(text: str) -> bool:
    """A time, a limit or a scope without anything it belongs to."""
    return bool(_ADVERBIAL.search(text.strip()))


def is_empty(text: str) -> bool:
    """Words that announce a statement, seal it, or only answer what was said before."""
    plain = text.strip()
    return bool(_EMPTY.search(plain) or _ANSWERS.search(plain.replace("’", "'")))


# "Yes", 没关系, "that sounds good", "recently": alone they answer or lead on, and state nothing.
_ANSWERS = re.compile(
    r"^(?:嗯+|好的?|行|是(?:的|啊|呀)|对(?:的|啊|呀)?|没错|当然(?:可以|了)?|没关系|没问题|没事|不客气|不用谢|辛苦(?:了|啦|你了)?|(?:非常|真的|太)?(?:感)?谢谢?(?:你|您|你们|大家)?(?:的(?:建议|推荐|提醒|分享|帮助))?|你们?好|您好|嗨|再见|拜拜|晚安|早安|(?:真|太|很|挺)?(?:好|棒|赞|不错|可以|行)|完美|好久不见|没毛病|成"
    r"|确实(?:是|如此)?|的确(?:如此)?|那就(?:这么)?决定了?|我?(?:知道|明白|懂|了解)了?|我?都(?:可以|行|好)|总的来说|话说回来|顺便(?:问|说)?一?[下句]?|AI伴侣|朋友|亲爱的)[啊呀呢吧哦哈啦]*$"
    r"|^\W*(?:(?:oh|well|and|but|so|ok|okay|yes|yeah|no|thanks|hi|hello)\W+)*(?:okay|ok|yes|yeah|yep|yup|no|nope|sure|right|well|good|great|fine|perfect|nice|cool|alright|lovely|deal|done|agreed|brilliant|excellent|awesome|thanks?(?: you)?(?: (?:so|very) much| a lot| again)?(?: for [^.,!]{1,40})?|of course|definitely|certainly|exactly|absolutely|indeed"
    r"|i|we|hello|hi|hey|good(?:bye|night)|good (?:morning|afternoon|evening|night)(?: \w+)?|you're (?:right|welcome)|you are (?:right|welcome)|not yet|not really|i see|i understand|i know|i agree|(?:i )?got it"
    r"|(?:that|it|this)(?:'s| is| sounds| does sound) (?:very |really |so |pretty |quite |a )?(?:good|great|nice|right|true|interesting|fine|okay|ok|wonderful|amazing|helpful|useful|fun)(?: (?:idea|point|suggestion|advice|question))?|(?:very |really )?(?:good|great|nice) (?:idea|point|suggestions?|advice|question)|sounds (?:good|great|nice|interesting)|my friend|long time no see|nice to (?:see|meet) you(?: again)?)\W*$",
    re.IGNORECASE,
)
