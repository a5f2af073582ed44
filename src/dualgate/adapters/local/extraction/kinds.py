"""Kinds: forms that name the type of a statement, whatever else it is about.

Rule: only forms that the hand-written turns label alike, all but always; the rest is the model's.
"""

from __future__ import annotations

import re

from dualgate.domain.types import ItemType, Polarity

_ZH_ADVERB = r"(?:这人|这个人|就|很|真的?|特别|一直|从小|更|最|比较|还是|实在|其实|不|不太|也|都|最近)*"
_FORMS: tuple[tuple[ItemType, re.Pattern[str]], ...] = tuple(
    (item_type, re.compile(pattern, re.IGNORECASE))
    for item_type, pattern in (
        (
            ItemType.DECISION,
            "决定|商量好|敲定|拍板|定下来|(?:讨论|想)了?.{0,4}(?:定|选)了|不(?:做|考|去|买|续|租|养|报|送|换|上|装).{0,6}了$" + r"|\b(?:decided|settled on|(?:we're|i'm|we are|i am|we) go(?:ing)? with|turned down|final answer|locked in|not getting)\b",
        ),
        (
            ItemType.PROJECT,
            "我(?:们)?(?:最近|现在|正|目前)?在(?:做|搞|写|搭|开发|筹备)(?!饭|作业)" + r"|\b(?:i'm|i am|we're|we are|i've been) (?:writing|building|restoring|working on|developing|designing) (?:an?|our|my)\b",
        ),
        (
            ItemType.PREFERENCE,
            f"我{_ZH_ADVERB}(?:喜欢|爱|讨厌|受不了)" + r"|\bi(?:'d rather| would rather| prefer)\b|\bi (?:really |just )?(?:love|like|hate|enjoy|can't stand|cannot stand|loathe)\b",
        ),
    )
)


def named_kind(text: str) -> ItemType | None:
    """Return the type that the form of the words names.

    >>> named_kind("we decided on two sprints"), named_kind("I have a cat")
    (<ItemType.DECISION: 'decision'>, None)
    """
    plain = text.replace("’", "'")
    return next((kind for kind, form in _FORMS if form.search(plain)), None)


_AGAINST = re.compile(
    r"(?<!不)(?:讨厌|反感|受不了)|(?:决定|打算)不|拒绝|再也不(?![^，,]*[，,].*只)|(?<![区特级性类])(?:别|不要)再?(?:给|跟|对|用|说|写|推|放|提)"
    r"|\b(?:refuse[sd]?|banned|forbidden|can't stand|cannot stand|hate|loathe|detest)\b"
    r"|^\W*(?:(?:please|and|so|also|but)\W+)*(?:don't|do not|never)\b(?! (?:forget|hesitate|mind|without|worry|\w+ without)\b)",
    re.IGNORECASE,
)
_NOT_AGAINST = re.compile(
    r"不(?:是)?(?:讨厌|反感)|[，,].*(?:只|改用|换成|要|用)|^[^，,别]*(?:只|用)[^，,别]*[，,]?[^，,]*别"
    r"|\b(?:used to|don't hate|don't dislike|only|instead|but (?:do|i love))\b",
    re.IGNORECASE,
)


def named_polarity(text: str) -> Polarity | None:
    """Return negative where the form of the words forbids or refuses outright.

    >>> named_polarity("别再给我推短视频了"), named_polarity("I live in Oslo")
    (<Polarity.NEGATIVE: '-'>, None)
    """
    plain = text.replace("’", "'")
    refused = _AGAINST.search(plain) and not _NOT_AGAINST.search(plain)
    return Polarity.NEGATIVE if refused else None


_PLAIN = re.compile(
    r"^我(?:一直|从小)?(?:对.{1,12}过敏|吃素|住在.{2,8}|叫.{1,6})$|^(?:好的?[，,]?)?那?就(?:定|选)[^，,]{1,10}(?:了|吧)$"
    r"|^\W*(?:(?:and|also|btw)\W+)*(?:(?:i'm|i am) (?:severely |very )?(?:allergic to(?! (?:being|having|getting|doing|losing|hearing|waiting|working|mondays?|people|work|mornings?|meetings?|nonsense|drama)\b)|lactose|vegetarian|vegan)|i live in|my name is|call me)\b.{0,30}$",
    re.IGNORECASE,
)


def is_plain(text: str) -> bool:
    """Tell whether this is one of the plainest things people say about themselves.

    >>> is_plain("I'm allergic to figs"), is_plain("the figs were great")
    (True, False)
    """
    return bool(_PLAIN.search(text.replace("’", "'")))


# Things of a person, not of an order, a page or a program: "my batch size is 32" is a task's.
_OWN = re.compile(
    r"^my (?:birthday|anniversary|blood type|(?:badge|hair|eye|favou?rite) colou?r|(?:shoe|ring|shirt|dress|hat) size"
    r"|(?:locker|badge|jersey|desk) number|home address|(?:new |current )?favou?rite(?: (?:drink|food|dish|snack|fruit|music|band|singer|film|movie|book|author|sport|team|genre|season|animal))?)"
    r" is (?!(?:part|bit|one|when|how|that|the (?:part|bit|one|way))\b)[\w' -]{1,30}\W*$"
    r"|^(?:好的?[，,]?)?那就定(?![第这那它下前后上])[^，,]{1,10}吧$",
    re.IGNORECASE,
)


def is_outright(text: str) -> bool:
    """Whether the text says outright what is for good: a wish, a thing of one's own, a choice.

    >>> is_outright("My badge colour is teal"), is_outright("那就定蓝色吧"), is_outright("My batch size is 32")
    (True, True, False)
    """
    return is_plain_wish(text) or bool(_OWN.search(text))


_ORDER = (
    "use|write|plan|keep|give|answer|reply|call|skip|leave|show|put|make|send|add|avoid|cook|book|suggest|speak|talk|stick"
    "|include|start|begin|end|name|prefix|suffix|annotate|format|cite|ask|check|round|assume|explain|respond|commit|document"
    "|test|validate|log|import"
)
_BEGINS = r"^\W*(?:(?:and|so|but|also|please|ok|okay|additionally|finally|next|lastly|remember|first(?: of all)?|second(?:ly)?)\W+)*"
_FOR_GOOD = re.compile(
    rf"{_BEGINS}(?:going forward|from (?:now|here) on|from today(?: on)?|henceforth)\W+(?:please )?(?:only|always|never|don't|do not|no more|stop|{_ORDER})\b"
    rf"|{_BEGINS}(?:always|never) (?:{_ORDER})\b"
    rf"|{_BEGINS}i(?: also| really)?(?:'d| would)? (?:want|need|expect|like) (?:you|us) to (?:always|never) (?:{_ORDER})\b"
    rf"|{_BEGINS}i(?: also| really)?(?:'d| would)? (?:want|need|expect|like) (?:you|us) to (?:use|include|add|start|begin|end|name|prefix|avoid)\b.{{2,60}}\b(?:in|for|of|with|to) (?:your|all|every|any|each)\b",
    re.IGNORECASE,
)


def is_for_good(text: str) -> bool:
    """Tell whether this is an order of which it says itself that it is to last.

    >>> is_for_good("going forward only plan meals without eggs"), is_for_good("from now on I shall walk")
    (True, False)
    >>> is_for_good("Always use annotations for your methods"), is_for_good("I want you to write a poem")
    (True, False)
    """
    return bool(_FOR_GOOD.search(text.replace("’", "'")))


def is_plain_wish(text: str) -> bool:
    """Tell whether this is one of the plainest wishes about answers.

    >>> is_plain_wish("I always prefer short answers"), is_plain_wish("short answers are rare")
    (True, False)
    """
    return bool(_PLAIN_WISH.search(text.replace("’", "'")))


_PLAIN_WISH = re.compile(
    r"^我(?:一直|还是|向来|一向|就|平时)*(?:都|更|最|比较|很)*(?:喜欢|偏好|习惯)(?:看|听|要)?[^，。,不没]{1,8}(?:回答|回复|答案|解释)$"
    r"|^\W*(?:(?:and|also|but|honestly|actually)\W+)*i (?:always |still |generally |usually |really |just )*(?:prefer|like) (?:getting )?(?:short|concise|brief|long|detailed|direct|plain|simple|thorough)[\w ]{0,14}(?:answers?|replies|responses|explanations)(?: (?:best|better|more|most))?\W*$",
    re.IGNORECASE,
)


_THIS_TIME = re.compile(
    r"\bfor (?:the thing|what) i'm (?:doing|working on|at)\b|^\W{0,3}.{0,6}(?:这次|这回|本次|这一[次回]|就这[次一]|仅此)|(?:先这样|这[次回]而已)\W*$"
    r"|\b(?:just )?this (?:one )?(?:time|once)\b|\bfor (?:once|this one)\b|\b(?:just|only) (?:for )?(?:now|today|once|tonight)\b|\b(?:today|tonight|this once) only\b|\bfor (?:today|tonight|the moment|the time being)\b",
    re.IGNORECASE,
)
# 把标题改短, 帮我把这段翻成英文: something is to be done to what lies on the table.
_HANDIWORK = re.compile(
    r"^(?:请|麻烦你?|你|帮我|给我|再|先)*把.{1,14}?(?:改|换|翻|译|写|做|删|加|缩|弄|整理|列|润|合|拆|排|标)"
    r"|^\W*(?:(?:please|just|and|but|so|also|ok|okay|now)\W+)*leave (?:the|those|these) [\w -]{1,30}? (?:alone|as (?:is|they are|it is)|untouched|unchanged)\b",
    re.IGNORECASE,
)
_DAYS = re.compile(
    r"^(?:我)?(?:最近)?(?:这几天|这两天|这些天|前几天|昨[天晚]|今[天晚早]|前天)"
    r"|^\W*(?:(?:and|but|so|well)\W+)*(?:(?:for |over |in )?(?:these|the) (?:past|last) (?:few|couple of|two|three|several) (?:days|nights)|yesterday|last night|(?:earlier )?today|tonight|this (?:morning|afternoon|evening))\b",
    re.IGNORECASE,
)


def is_of_those_days(text: str, sentence: str) -> bool:
    """Return whether a habit is one of a few days only, by the head of its sentence [W4].

    >>> is_of_those_days("我每天只睡五个小时", "这几天为了赶稿，")
    True
    >>> is_of_those_days("我每天只睡五个小时", "为了赶稿，")
    False
    """
    plain = f"{sentence.strip()} {text.strip()}".strip().replace("’", "'")
    return bool(_DAYS.search(plain) and _EACH.search(text) and not _FROM.search(text))


_FROM = re.compile(r"以后|今后|往后|从现在|从今|\b(?:from (?:now|today|here)|going forward)\b", re.IGNORECASE)
_RETELLS = re.compile(
    r"(?:电影|影片|片子|小说|故事|书|剧|动漫|漫画|纪录片)[^。！？\n]{0,12}?(?:讲述|讲的?是|讲了|说的是|说了|描写|描述|描绘)"
    r"|\b(?:movie|film|book|novel|story|show|series|play|documentary|anime)\b[^.!?\n]{0,24}?\b(?:tells|told|follows|describes|depicts|portrays|recounts|(?:is|was|revolves|centers|centres) (?:about|around))\b",
    re.IGNORECASE,
)
_OWN_WORDS = re.compile(r"我|咱|俺|\b(?:i|i'm|i've|i'd|i'll|my|me|we|our)\b", re.IGNORECASE)


def is_retold(text: str, before: str) -> bool:
    """Return whether the words go on retelling a film or a book, whoever does what in it [W3].

    >>> is_retold("那个渔夫失去了船", "这部电影讲述了一个渔夫的故事。")
    True
    >>> is_retold("我很喜欢结尾", "这部电影讲述了一个渔夫的故事。")
    False
    """
    if _OWN_WORDS.search(text.replace("’", "'")):
        return False
    return bool(_RETELLS.search(before[-RETOLD_WITHIN:] + text))


RETOLD_WITHIN = 400  # characters
# 再给我一些建议, give me some tips: what the assistant is to do now, whatever it is about.
_ASKED = re.compile(
    r"^(?:那么?|请|麻烦你?|你|再|也|还|帮我|能不能|可不可以|可以|想让你|希望你)*(?:(?:给|跟|为|替)我(?:来|推荐|介绍|讲讲?|说说?|出|列|提供)?|根据.{1,14}?(?:推荐|介绍|给)|推荐|介绍)(?:我|一下)?(?:一些|一点|一下|几[个条种部本点]|[点些])"
    r".{0,14}(?:建议|意见|推荐|方法|办法|技巧|思路|方案|计划|攻略|信息|资料|菜谱|美食|电影|书|音乐|歌|景点|地方|例子)?(?:吧|吗|呢|可以吗|好吗)?$"
    r"|^\W*(?:(?:please|so|and|also|then|now|well|i(?:'d| would) like you to|i want you to|can you|could you|would you)\W+)*(?:give|recommend|suggest|tell|show|offer|send)(?: to)? (?:me |us )?(?:\w+ )?(?:some|a few|any|more|several|another|an?)\b"
    r"[^,]{0,50}\b(?:advice|suggestions?|tips?|ideas?|recommendations?|options?|methods?|information|movies?|films?|books?|songs?|recipes?|places?)\b",
    re.IGNORECASE,
)
# 我先把库建好: the next step of today's work, not what anybody is or does.
_NEXT_STEP = re.compile(r"^(?:那|好的?|嗯|行)?[，,]?(?:我|我们|咱们)先(?!生|天|后|前|祖|父|母|辈|人)", re.IGNORECASE)
_EACH = re.compile(r"每|都|通常|一般|平时|总|习惯|\b(?:every|each|usually|when|if)\b", re.IGNORECASE)
_STANDING = re.compile(
    r"以后|今后|往后|从现在|从今|每次|一律|默认|凡是|总是|一直|平时|一向|向来|经常|通常|平常|记住|都(?:要|给|用|得)"
    r"|\b(?:from now on|always|every ?time|by default|usually|normally|in future|whenever|going forward)\b",
    re.IGNORECASE,
)


def is_for_now(text: str) -> bool:
    """Return whether the form says that it holds for this time only [W4].

    >>> is_for_now("这次麻烦说细一点，要步骤"), is_for_now("这次开始以后都说细一点")
    (True, False)
    >>> is_for_now("Please give me some dietary advice"), is_for_now("give me short answers")
    (True, False)
    """
    if _STANDING.search(text):
        return False
    if _THIS_TIME.search(text) or _HANDIWORK.search(text):
        return True
    plain = text.strip().replace("’", "'")
    return not _EACH.search(plain) and bool(_ASKED.search(plain) or _NEXT_STEP.search(plain))


def is_led_by_now(text: str, lead: str) -> bool:
    """Return whether a sentence opens with "this time only": all its wishes are for now [W4].

    >>> is_led_by_now("link me to it", "Today only: "), is_led_by_now("以后别推甜食", "这次体检之后，")
    (True, False)
    """
    opening = re.split(r"[，,：:]", lead.strip())[0].replace("’", "'")
    return bool(_THIS_TIME.search(opening)) and not any(
        form.search(said) for form in (_STANDING, _EACH) for said in (lead, text)
    )


_LIMITED_AFTER = re.compile(
    r"^\W*(?:but )?(?:just |only )?for this (?!(?:reason|purpose|kind|type|sort)\b)\w+\W*(?:$|[.,;!?\n])"
    r"|^\W*(?:只|就|仅)?(?:限|针对)?(?:这次|这一次|这回)(?:的?(?:部署|任务|汇报|报告))?\W*(?:$|[。，；！？\n])",
    re.IGNORECASE,
)


def is_limited_after(after: str) -> bool:
    """Return whether what comes right after a wish limits it to the work at hand [W4].

    >>> is_limited_after(", for this deployment."), is_limited_after(", for this reason.")
    (True, False)
    """
    return bool(_LIMITED_AFTER.search(after))


# 现在看什么都烦, "everything annoys me at the moment": said of the hour, whatever verb it has.
_MOOD = re.compile(
    r"(?:现在|此刻|这会儿|眼下|刚才|今[天晚])[^，,。]{0,8}(?:烦(?!恼的是)|累|困|饿|难过|难受|生气|崩溃|郁闷|没劲|不爽|没胃口|提不起劲|不想(?:动|说话|见人|干活)|emo)"
    r"|\b(?:annoy\w*|irritat\w*|tired|exhausted|wrecked|shattered|sad|down|bored|angry|hungry|sleepy|overwhelmed|stressed|fed up|grumpy|miserable|useless)\b.{0,20}\b(?:at the moment|right now|just now|today|tonight)\b"
    r"|^\W*(?:right now|at the moment|today|tonight)\b.{0,40}\b(?:annoy\w*|irritat\w*|tired|exhausted|sad|bored|angry|hungry|sleepy|overwhelmed|stressed|grumpy|miserable)\b",
    re.IGNORECASE,
)


def is_mood(text: str) -> bool:
    """Return whether somebody says how he feels just now [W4].

    >>> is_mood("现在看什么都烦"), is_mood("Everything annoys me at the moment"), is_mood("现在上夜班，很累")
    (True, True, False)
    """
    return bool(_MOOD.search(text)) and not _STANDING.search(text)


_ONE_PIECE = re.compile(
    r"\b(?:in|on|for|with) (?:this|that|the (?:attached|following|current)) (?:one |single |particular )?(?:draft|page|document|doc|file|e-?mail|letter|message|report|section|chapter|slide|slides|deck|ticket|task|question|answer|essay|paper|article|post|review|memo|form|application|assignment|exercise|snippet|script|table|translation|summary|text|paragraph)\b"
    r"|\bfor now\W*$"
    r"|\bfor (?:the|tomorrow's|today's|tonight's|monday's|this afternoon's) (?:thing|task|meeting|workshop|handout|slides|talk|presentation|exam|interview|deadline|pitch|demo)\b"
    r"|(?<!以后)(?:这|那)(?:份|页|张|封|段|篇|条|题|节|章|版|稿|句|一?道)(?!的)(?:报告|文件|邮件|材料|信|稿子?|文章|作业|题目?|表|页面|话|消息|代码|回答|翻译|简历|方案|总结)?(?:里面?|上|中|就|先|给我|用|要|别|不)"
    r"|^\W*(?:单|就|仅|只)(?:这|此)(?:一?[题次回份页篇封段]|个)|仅限(?:这|今|本)|[今明]天(?:的|要|先|就|这).{0,6}(?:会|汇报|作业|材料|讲)|回头(?:照旧|再改回|恢复)|下不为例|赶时间|赶着|急着|来不及了|(?:马上|等下|待会儿?)(?:要|就)?交",
    re.IGNORECASE,
)


def is_for_one_piece(text: str) -> bool:
    """Return whether a wish is one for a single piece of work [W4].

    >>> is_for_one_piece("in this draft keep it short"), is_for_one_piece("keep drafts short")
    (True, False)
    """
    return bool(_ONE_PIECE.search(text)) and not _STANDING.search(text)


def is_passing(text: str) -> bool:
    """Return whether the form says that it is over within days, or that it is a matter of minutes [W4].

    >>> is_passing("my in-laws are here till Sunday"), is_passing("no lifting until the end of August")
    (True, False)
    >>> is_passing("the shop closes in 10"), is_passing("手机还剩12%"), is_passing("the lease ends in 2027")
    (True, True, False)
    """
    plain = text.replace("’", "'")
    return bool(_PASSING.search(plain)) and not _STANDING.search(plain) and not _EACH.search(plain)


_PASSING = re.compile(
    r"\b(?:in town|here|over|visiting|staying(?: with us)?|away|around|at (?:mine|ours|my place|our place)) (?:till|until|til) (?:(?:this|next) )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|lunch|the weekend)\b"
    r"|\b(?:closes?|closing|leaves?|leaving|starts?|starting|boards?|boarding|arrives?|ends?|due|dies?|dying) in (?:(?:\d{1,2}|five|ten|fifteen|twenty)(?: ?(?:m|mins?|minutes?|h|hrs?|hours?))?|(?:half )?an hour)\b\W*(?:$|[,.;!?])"
    r"|(?:电|手机|电池|电脑|平板).{0,6}(?:还剩|只剩|就剩)下?\d+[%％]|(?:还剩|只剩|就剩)下?\d+(?:分钟|个?小时)(?!.{0,4}(?:[一每]))|(?:再过|还有)?\d+分钟(?:后)?就?(?:关门|下班|开会|到站|登机|发车|开始|结束)"
    r"|(?:住|待|呆|玩)到(?:这|下)?(?:周|星期|礼拜)[一二三四五六日天末]",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    r"^\W*(?:(?:i'm |i was )?(?:just |only |totally )?(?:kidding|joking)(?! aside)|jk|lol jk|(?:that|this) (?:was|is) a joke|not really lol)\b"
    r"|^\W*(?:(?:我)?(?:开|跟你开个?)个?玩笑(?:的|啦|哈)?|逗你(?:玩)?的|骗你的|说着玩的?|瞎说的|胡说的)"
    # 之前说的是五个人，不对，是六个: what stands before it does not hold.
    r"|^\W*(?:哦|啊|等等)?(?:不对|说错了|口误)(?:[啊哈呀]|了)?$",
    re.IGNORECASE,
)


def is_retracted(text: str, after: str) -> bool:
    """Return whether what is said is taken back as a joke, in it or right after it [W3].

    An upside-down face at its end does so without words.

    >>> is_retracted("we all sing", ". just kidding. unless?"), is_retracted("以后都用文言文，开玩笑的", "")
    (True, True)
    >>> is_retracted("之前说我爱吃辣，不对", ""), is_retracted("看透了，以后谁再熬夜谁是狗", "")
    (True, True)
    >>> is_retracted("I eat no nuts", ". I only eat rocks. just kidding"), is_retracted("I love it", "")
    (False, False)
    """
    rest = after.lstrip(" .!?。！？；;，,~～\n\"'”’)）")
    parts = [*_PARTS.split(text)[1:], _PARTS.split(rest)[0]]
    wry = text.endswith("🙃") or rest.startswith("🙃") or bool(_VOW.search(text))
    return wry or any(_RETRACTED.search(part.replace("’", "'")) for part in parts)


# A vow in which the loser is a dog.
_VOW = re.compile(r"谁[^谁，,。]{1,16}谁就?是小?(?:狗|猪|孙子)")
_PARTS = re.compile(r"[.!?。！？；;\n，,]+")


_NOT_ASKED = re.compile(r"不管|无论|甭管|不论|随便")
_HOW_SO = re.compile(r"^\W*(?:你|那你)?(?:是)?从(?:哪儿?|哪里|什么地方)(?:看|听|知道|觉得|得出)")
_A_NOT_A = re.compile(r"([\u4e00-\u9fff])[不没]\1[\u4e00-\u9fff]{0,2}$")


def is_asked(text: str) -> bool:
    """Return whether the words end as a Chinese question does, with or without its mark.

    >>> is_asked("十月去西宁冷不冷"), is_asked("不管你去不去"), is_asked("你从哪看出来我爱吃辣了")
    (True, False, True)
    """
    asked = _A_NOT_A.search(text.strip()) or _HOW_SO.search(text)
    return bool(asked) and not _NOT_ASKED.search(text)


def is_of_a_bad_day(text: str) -> bool:
    """Return whether somebody says first what a day it has been: what he wants then passes [F2].

    >>> is_of_a_bad_day("What a lousy day. Stop sending me these"), is_of_a_bad_day("Every day I run")
    (True, False)
    """
    return bool(_BAD_DAY.search(text))


_BAD_DAY = re.compile(
    r"\bwhat an? (?:\w+ )?(?:day|night|week|morning|evening)\b|\b(?:rotten|horrible|terrible|awful|lousy|miserable|rough|shitty?|worst|hell of a) (?:day|night|week|morning)\b"
    r"|(?:今天|今晚|这一天|这周).{0,6}(?:糟透|倒霉|烦死|累死|崩溃|火大|气死)",
    re.IGNORECASE,
)


def ends_hurried(text: str) -> bool:
    """Return whether somebody says after a wish that it has to be quick.

    >>> ends_hurried("，快"), ends_hurried(", asap!"), ends_hurried("，快乐最重要")
    (True, True, False)
    """
    return bool(_ENDS_HURRIED.search(text))


_ENDS_HURRIED = re.compile(r"^\W*(?:快(?:点|些)?|赶紧的?|速度|在线等|急|quick(?:ly)?|fast|asap|hurry)\W*$", re.IGNORECASE)


def is_hurried(text: str) -> bool:
    """Return whether somebody says before a wish that it has to be quick: then it is for now [W4].

    >>> is_hurried("赶时间，"), is_hurried("I'm in a rush: "), is_hurried("我平时很忙，")
    (True, True, False)
    """
    return bool(_HURRIED.search(text.replace("’", "'")))


_HURRIED = re.compile(
    r"赶时间|赶着|急着|来不及了|马上要(?:交|用|开会|出门)"
    r"|\b(?:i'm |we're |am |are )?in a (?:rush|hurry)\b|\b(?:short|running out) (?:on|of) time\b|\b(?:leaving|presenting|due) in (?:\d+|ten|five|an?|half an) (?:min\w*|hour)",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"要是.{1,20}就好了|如果.{1,20}就好了|说不准|说不定|没准儿?|哪天(?:能|要|把|有)"
    r"|\b(?:maybe|perhaps) (?:one|some) ?day\b|\bif only\b|\bwouldn't it be\b|\bwho knows\b",
    re.IGNORECASE,
)


def is_wished(text: str) -> bool:
    """Return whether the form only plays with a thought [W3].

    >>> is_wished("要是哪天把后台换成 Go 就好了"), is_wished("后台已经换成 Go 了")
    (True, False)
    >>> is_wished("Okay, I'll take a look at these"), is_wished("I'll pay you on Monday")
    (True, False)
    """
    plain = text.strip().replace("’", "'")
    return bool(_WISHED.search(plain) or _INTENDED.search(plain) or _TOPIC.search(plain))


# "I'll take a look", 我会多注意的: a polite answer to advice, kept by nobody.
_INTENDED = re.compile(
    r"^(?:好的?|嗯|是的|谢谢|那)?[，,]?我(?:现在|一定|也|还|肯定)*会(?:再|去)?(?:好好|尽量|试着?|试试|尝试|考虑|注意|留意|努力|看看|认真|多(?!年|次)|查一?查|研究一下|牢记|(?:按照?|听)[你您](?:的|说))"
    r"|^\W*(?:(?:okay|ok|yes|thanks|well|and|so|then)\W+)*(?:i'll|i will) (?:definitely |certainly |also |just |still |surely |really |go (?:and )?)*"
    r"(?:try\b|consider\b|check (?:it|them|these|those|that|out)|think about|keep (?:that|this|it|them) in mind|take (?:a look|note)|look into|pay (?:more )?attention|do my best|(?:study|work|practi[cs]e) hard|give (?:it|that|this) a (?:try|go|shot))",
    re.IGNORECASE,
)
# "I'd like to talk about the book": what this conversation shall be about.
_TOPIC = re.compile(
    r"^(?:今天|其实|我今天|那|所以)*我?(?:也|还)?(?:想|要|打算)(?:跟|和|找|问|向)?[你您]?(?:聊聊?|说说|谈谈|分享|请教|咨询|问问?|了解一下)(?!天)"
    r"|^\W*(?:(?:actually|well|so|today|and|also)\W+)*i(?:'d| would)? (?:like|want|love) to (?:talk|chat|ask|share|discuss|hear)\b",
    re.IGNORECASE,
)


_SOMEBODY = re.compile(
    r"^(?:和|跟|同)(?:我|咱)们?[^，,。]{1,8}的(?:那(?:位|个|人)|人|家伙|姑娘|小伙|大哥|大姐)"
    r"|^\W*the (?:guy|girl|woman|man|person|lady|one|fellow|bloke) (?:i|we|who|that|next|in|from|with)\b"
    r"|\bin (?:my|our|the) (?:novel|story|book|script|screenplay|game|film)\b.*\b(?:he|she|they|hero|heroine|character)\b",
    re.IGNORECASE,
)


# Whom one meets once and never again.
_STRANGER = re.compile(
    r"^\W*(?:our|my|the|this|an?) (?:(?:uber|lyft|taxi|cab|bolt|bus|coach|delivery|tour|tow truck) (?:driver|guy|man|guide)|(?:waiter|waitress|barista|cashier|usher|receptionist|flight attendant|bouncer|street artist)\b)"
    r"|^(?:出租车|网约车|滴滴|代驾|公交|大巴)(?:司机|师傅)|^(?:餐厅|饭店|酒店)?(?:服务员|收银员|检票员|前台小(?:姐|哥))|^(?:送)?(?:外卖|快递)(?:小哥|员|师傅)",
    re.IGNORECASE,
)


def is_stranger(text: str) -> bool:
    """Return whether the subject is somebody met in passing: nobody asks later what he is like [W3].

    >>> is_stranger("our uber driver moved here from Lagos"), is_stranger("快递员我干了三年")
    (True, False)
    """
    plain = text.strip().replace("’", "'")
    found = _STRANGER.search(plain)
    return found is not None and not _OWN_WORDS.search(plain, found.end())


def is_about_somebody(text: str) -> bool:
    """Return whether the subject is a person without a name or kin word, or a figure of a story.

    >>> is_about_somebody("和我合租的那位怕坐飞机"), is_about_somebody("和我妹妹去爬山")
    (True, False)
    """
    return bool(_SOMEBODY.search(text.strip()))


# What people say when they have lost their temper, wherever in the turn it stands. Plain dislike
# ("I hate long answers") is none of it: it is said calmly every day.
_OUTBURST = re.compile(
    r"烦死|烦透|气死|气炸|火大|恼火|抓狂|受够|受不了了|忍不了|忍无可忍|崩溃|要疯|疯了|心态崩|裂开了|炸了|要炸|他?妈的|卧槽|我[操靠草]|tmd|老子|滚[！!蛋开]"
    r"|没一件(?:事|顺)|诸事不顺|心累|累死|困死|憋屈|窝火|闹心|头大|想砸|砸(?:电脑|手机|键盘)|摔(?:电脑|手机|键盘)|什么破|破(?:电脑|网|玩意)|垃圾|智障|傻[逼叉x]|脑残|吐血|毁灭吧|见鬼|该死"
    r"|一肚子(?:火|气)|少废话|废什么话|听不懂人话|说了(?:多少|几|八百)遍|最后(?:说)?一遍|烦不烦|恨不得"
    r"|倒霉透|糟透|糟心透|[听懂]见?到?没有?[？?！!]|有完没完|没完没了|别(?:再)?烦我|真是够了|够了[！!]|不想活|欺人太甚|岂有此理"
    r"|\b(?:fed up|had it (?:with|up to|today)|i've had it|sick (?:and tired )?of (?:this|it|all|you)|can(?:'t|not) (?:take|stand|deal with) (?:this|it|any|one)"
    r"|losing (?:it|my mind|my shit)|lose (?:it|my mind|my temper)|(?:drives?|driving) me (?:mad|crazy|nuts|insane|up the wall)|furious|livid|pissed|raging|about to (?:explode|scream|cry|snap)"
    r"|for (?:god|christ|heaven|pete|fuck|goodness)'?s? ?sakes?|for crying out loud|how hard (?:is it|can it be)|is (?:that|it) (?:so|that|too) (?:hard|much)|leave me alone|shut up"
    r"|what an? (?:rotten|horrible|terrible|awful|shitty?|lousy|miserable|crap) (?:day|night|week|morning|evening)|worst (?:day|night|week)|nothing works|hate (?:everything|my life|today)"
    r"|throw (?:this|my|the) (?:laptop|phone|computer|keyboard|thing)|pull(?:ing)? my hair|bang(?:ing)? my head|last straw|useless|piece of (?:crap|junk|garbage|shit)"
    r"|(?:last|hundredth|thousandth|millionth) time i|how many times|so (?:angry|mad|annoyed|frustrated)|frustrat(?:ed|ing)|everything(?:'s| is) (?:going wrong|broken|falling apart)"
    r"|had an? (?:terrible|awful|shitty|rough|horrible) (?:day|night)|(?:stupid|dumb) (?:bot|thing|machine)"
    r"|a+r+g+h+|u+g+h+|g+r{2,}|wtf|ffs|goddamn|god damn|damn it|screw (?:this|it|you)|fuck\w*|bloody hell|enough (?:already|is enough))(?!\w)"
    r"|(?-i:\bENOUGH\b)|\benough!",
    re.IGNORECASE,
)


def is_outburst(text: str) -> bool:
    """Return whether somebody has lost his temper in a turn [F2].

    >>> is_outburst("I'm so fed up. Short answers from now on!"), is_outburst("I hate long answers")
    (True, False)
    >>> is_outburst("Never again with those tables!!"), is_outburst("Short answers, please!!")
    (True, False)
    >>> is_outburst("烦死了，以后都写短一点！"), is_outburst("我讨厌长篇大论")
    (True, False)
    """
    plain = text.replace("’", "'")
    heated = _SHOUTED.search(plain) and not _FRIENDLY.search(plain)
    return bool(heated or _OUTBURST.search(plain))


_SHOUTED = re.compile(r"[!！]{2,}")
_FRIENDLY = re.compile(
    r"请|谢|拜托|麻烦|哈|嘿|[😀-🙏🥰-🥳❤]|\b(?:please|pls|thanks?|thx|ty|lol|haha\w*|yay|awesome|great|love|happy|excited|finally|hi|hey|hello)\b",
    re.IGNORECASE,
)
