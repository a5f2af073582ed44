"""Cues: named patterns that tell how a clause is meant. They are evidence for the model, not rules.

Rule: a cue names one thing that a linguist would name (negation, question, from-now-on, ...), in
Chinese and English side by side. No cue decides anything by itself; the fitted weights do.
To add a language, add an alternative to each pattern and retrain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from dualgate.adapters.local.extraction.shapes import SHAPES

_KIN_ZH = (
    "爸|妈|父亲|母亲|爷爷|奶奶|外婆|外公|姥姥|姥爷|哥|姐|弟|妹|老公|老婆|丈夫|妻子|太太|先生|媳妇|男友|女友|男朋友|女朋友|对象"
    "|儿子|女儿|闺女|孩子|娃|宝宝|岳父|岳母|婆婆|公公|舅|姑|叔|姨|表弟|表妹|堂|侄|孙|室友|同事|老板|领导|导师|朋友|闺蜜|邻居|同学|房东|客户"
)
_KIN_EN = (
    "mum|mom|mother|dad|father|parents?|wife|husband|partner|spouse|boyfriend|girlfriend|fianc[eé]e?|son|sons|daughters?|kids?"
    "|child|children|toddler|baby|brothers?|sisters?|siblings?|uncle|aunt|cousin|nephew|niece|grand(?:ma|pa|mother|father|son|daughter)"
    "|gran|nan|in-laws?|roommate|flatmate|colleague|coworker|boss|manager|friend|neighbou?r|landlord|twins?|other half"
)
KIN = re.compile(rf"(?:{_KIN_ZH})|\b(?:{_KIN_EN})\b", re.IGNORECASE)

_PATTERNS: Mapping[str, str] = {
    "first": r"我|咱|俺|本人|\b(?:i|i'm|i’m|im|i've|ive|i'd|i'll|me|my|mine|we|we're|we've|us|our|ours|myself)\b",
    "first_starts": r"^\W*(?:我|咱|俺|本人|(?:i|i'm|i’m|im|i've|ive|i'd|i'll|my|we|we're|we've|our)\b)",
    "first_is": r"我(?:就|其实|现在|本来|平时)?(?:是|叫|姓|属|在|住)|\b(?:i'm|i’m|im|i am|we're|we are|my name)\b",
    "first_has": r"我(?:们)?(?:家)?(?:里)?(?:有|养|带|用)|\b(?:i've got|i have|i own|we have|we've got)\b",
    "my": r"我(?:的|家|们|妈|爸|老|儿|女|哥|姐|弟|妹|这)|\b(?:my|our)\b",
    "second": r"你|您|\b(?:you|your|you're|u)\b",
    "second_starts": r"^\W*(?:请|麻烦|帮|给我|你|您|(?:please|can you|could you|pls|you)\b)",
    "third": r"他|她|人家|\b(?:he|she|they|his|her|their|someone|somebody|people|everyone|guy|lady)\b",
    "kin": KIN.pattern,
    "my_kin": rf"(?:我|咱)(?:们)?(?:家)?的?(?:那个)?(?:小|大|老)?(?:{_KIN_ZH})|\b(?:my|our)\s+(?:\w+\s)?(?:{_KIN_EN})\b",
    "not": r"不|没|别|勿|无|非|\b(?:no|not|never|none|nothing|don't|dont|doesn't|didn't|isn't|aren't|can't|cannot|won't|without|nor)\b|n't\b|n’t\b",
    "stop": r"别|不要|不许|不准|禁止|少(?:给|来|用)|停|\b(?:don't|dont|do not|stop|skip|avoid|no more|drop|quit|leave out|never)\b",
    "not_not": r"不是不|不能不|没有不|并非不|没说不|不得不|从不不|\b(?:not that i don't|never not|not un\w+|don't not|no reason not)\b",
    "no_longer": r"不再|再也不|再不|戒|已经不|早就不|不(?:吃|喝|用|做|去|在|干|写|看|住|玩|打|抽)了|\b(?:no longer|any ?more|gave up|given up|quit|used to|not anymore|stopped)\b",
    "always": r"一直|向来|从来|总是|一般|平时|通常|每次|每天|每周|每月|每年|天天|老是|从小|习惯|永远|常年|\b(?:always|usually|normally|generally|typically|every (?:time|day|week|month|year|morning|night|monday|sunday)|whenever|as a rule|by default|most days|each)\b",
    "from_now": r"以后|今后|往后|从现在|从今|从此|之后都|后面都|下次开始|长期|记住|记一下|记着|记好|默认|一律|统一|凡是|但凡|只要是|\b(?:from now on|from here on|going forward|in future|in the future|from today|henceforth|starting (?:now|today|next)|remember|note that|keep in mind|for the record|fyi|just so you know|default|across the board|everything i)\b",
    "this_time": r"这次|这回|本次|这一次|这篇|这段|这份|这个(?:文件|项目里|ppt|表|方案|稿|题)|这封|这趟|这张|这道|这题|这轮|这里|刚才|刚那|就这|单次|仅此|先(?:别|不|给|按|用|做|这|来|把|写|跑)|临时|暂时|\b(?:this (?:one|time|once|reply|email|doc|deck|draft|essay|paragraph|file|trip|problem|question|report|slide|version|piece|chapter|week|ticket|function|script)|just (?:this|once)|for (?:this|now|the moment)|for once|temporarily|these (?:slides|notes)|that last)\b",
    "today": r"今天|今晚|今早|今儿|明天|明早|昨天|昨晚|刚刚|刚|现在|待会|一会|等会|周末|中午|下午|早上|晚上|最近|这两天|这几天|\b(?:today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening|weekend)|right now|just now|currently|lately|rn|atm|later|last night|these days)\b",
    "date": r"\d{1,2} ?[月号日]|\d{4} ?[年/-]|[一二三四五六七八九十]+月|[一二三四五六七八九十\d]+[号日]|下?(?:周|星期|礼拜)[一二三四五六日天]|下个?月|年底|月底|\b(?:\d{1,2}(?:st|nd|rd|th)|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|monday|tuesday|wednesday|thursday|friday|saturday|sunday|next (?:week|month|year))\b",
    "due": r"之前|前交|截止|到期|ddl|deadline|上线|交付|答辩|考试|发布|搬|入职|出发|手术|婚礼|开业|毕业|\b(?:due|deadline|by (?:the|friday|monday|next|end)|expires?|launch|wedding|surgery|exam|moving|ships?|defen[cs]e|opening|go live|starts on|flight)\b",
    "ask": r"[？?]|吗|呢$|怎么|如何|为什么|为啥|什么|多少|哪|几[个种天月]|是不是|能不能|可不可以|有没有|要不要|咋|\b(?:what|why|how|which|who|where|when's|can you|could you|is there|are there|does|do you|is it|should i|would|any)\b.*\?|^\W*(?:what|why|how|which|who|where|is|are|does|do|can|could|should|would|will|did|has|have)\b",
    "ask_mark": r"[？?]",
    "request": r"帮|给我|麻烦|请|来(?:一|个|点|几)|推荐|写(?:个|一|篇|封|条|段)|翻译|润色|改成|改写|总结|列|讲讲|说说|做(?:个|一)|查一下|生成|解释|看一下|看看|\b(?:help|write|translate|fix|make|give me|show|explain|list|draft|find|suggest|recommend|rewrite|summari[sz]e|convert|turn|generate|rephrase|shorten|proofread|check|edit|tell me|plan|compare|set|use)\b",
    "request_starts": r"^\W*(?:帮|给我|麻烦|请|来|推荐|写|翻译|润色|改|总结|列|讲|做|查|解释|把|再|继续|(?:help|write|translate|fix|make|give|show|explain|list|draft|find|suggest|rewrite|summari[sz]e|convert|turn|generate|shorten|proofread|check|edit|tell|plan|compare|add|change|put|send|run|try|continue|keep going)\b)",
    "if": r"如果|假如|假设|要是|万一|倘若|设想|比方|打个比方|\b(?:if|suppose|supposing|imagine|pretend|hypothetically|what if|say i|let's say|were to|in a world)\b",
    "wish": r"希望|想要|要是能|真想|好想|梦想|恨不得|但愿|向往|迟早|说不定|也许|可能会|考虑|在想|打算|琢磨|纠结|犹豫|\b(?:wish|hope|someday|some day|one day|maybe|might|perhaps|considering|thinking (?:of|about)|dream|would love|if only|wondering|tempted)\b",
    "joke": r"哈哈|笑死|hhh|233|狗头|🐶|😂|🤣|🙃|段子|开玩笑|才怪|呵呵|绝了|保证单身|\b(?:lol|lmao|haha\w*|jk|kidding|joking|rofl|yeah right|sure,|oh great|oh joy|thrilled|delighted|wow)\b|😂|🤣|🙃|😅",
    "anger": r"烦死|气死|受够|受不了|忍不了|崩溃|疯了|恶心|滚|妈的|靠|卧槽|tmd|无语|吐了|老子|够了|真的是|[！!]{2,}|\b(?:sick of|fed up|done with|hate|ugh|argh|omg|wtf|damn|hell|fuck\w*|furious|enough|swear|begging|pissed|screw)\b|[!]{2,}|(?-i:\b[A-Z]{4,}\b(?![a-z\d]))",
    "mood": r"累|困|难过|开心|高兴|郁闷|心情|烦|emo|丧|焦虑|失眠|睡不着|无聊|\b(?:tired|sad|happy|bored|exhausted|moody|blah|stressed|anxious|excited|hungry|sleepy|meh)\b",
    "thanks": r"谢|感谢|辛苦|好的|好嘞|收到|明白|懂了|可以|行|嗯|哦|不错|牛|赞|完美|\b(?:thanks?|thx|ty|cheers|ok|okay|great|perfect|cool|nice|got it|yes|yep|yeah|sure|awesome|brilliant|good)\b",
    "greet": r"你好|您好|在吗|早上好|早安|晚安|晚上好|拜拜|再见|嗨|哈喽|\b(?:hi|hello|hey|good (?:morning|night|evening)|bye|goodnight|happy (?:friday|monday|new year))\b",
    "like": r"喜欢|爱(?!人)|偏好|更喜欢|最爱|宁愿|宁可|习惯|顺手|讨厌|不爱|反感|受不了|嫌|偏爱|倾向|\b(?:like|love|prefer|favou?rite|enjoy|hate|dislike|can't stand|rather|into|fan of|fond|adore|detest|loathe|partial)\b",
    "must": r"必须|一定要|务必|不能|不可以|不准|只能|只要|最多|至少|不超过|以内|上限|底线|绝不|绝对|严禁|\b(?:must|have to|need to|can't|cannot|only|at most|at least|max|maximum|minimum|no more than|under|cap|limit|up to|strictly|hard|allowed|required)\b",
    "decide": r"决定|定了|敲定|就定|选了|选定|换成|改成|改用|改为|不用.*了|商量好|说好|拍板|确定|放弃|否了|砍掉|\b(?:decided|decision|settled|going with|went with|chose|chosen|picked|agreed|switched|moving to|moved (?:to|from)|dropped|instead of|we'll|replac\w+|migrat\w+|final)\b",
    "promise": r"我会|我来|保证|答应|承诺|负责|一定(?:补|交|发|给)|欠|说到做到|发誓|之前给你|我去|交给我|\b(?:i'll|i will|i promise|promised|my word|i swear|count on|on me|i owe|committed|pledge|i'm going to|i vow|deal:?)\b",
    "fix": r"不对|说错|搞错|纠正|更正|改一下|其实|之前(?:说|跟|讲)|上次说|不是.{1,20}(?:是|而是|，)|原来|记错|改了|换了|改成|\b(?:actually|correction|scratch that|i meant|not .{1,20} but|wrong|instead|used to|previously|earlier i|i said|no,|changed|switched|mistake|forget what|ignore what|update|now it's|these days)\b",
    "name": r"叫我|叫(?:做)?|名字|姓|昵称|网名|笔名|代号|称呼|\b(?:call me|my name|name's|named|called|goes by|nickname|pen name|pronouns?|codename)\b",
    "work": r"做.{0,6}的$|工程师|程序员|设计师|老师|医生|护士|律师|会计|运营|产品|经理|总监|学生|研究生|博士|本科|大[一二三四]|研[一二三]|高[一二三]|专业|公司|单位|岗位|行业|创业|自由职业|主管|组长|编辑|店|厂|\b(?:engineer|developer|designer|teacher|nurse|doctor|lawyer|accountant|manager|student|freelanc\w+|founder|phd|company|team|startup|job|work (?:as|at|for|in)|run a|lead|editor|writer|consultant|analyst|director|shop|sophomore|undergrad|grad|shift)\b",
    "live": r"住在|住|老家|家在|人在|定居|搬到|来自|籍贯|坐标|时区|租|\b(?:live|living|based|located|moved to|from|hometown|timezone|time zone|born|grew up|reside)\b",
    "health": r"过敏|糖尿病|高血压|怀孕|手术|吃药|药|病|症|疼|痛|伤|胃|膝盖|腰|医|血|癌|抑郁|焦虑症|失眠|乳糖|麸质|备孕|痛风|哮喘|色弱|近视|\b(?:allerg\w+|diabet\w+|pregnan\w+|surgery|asthma\w*|celiac|coeliac|intoleran\w+|medication|meds|insulin|blood|cancer|chemo|depress\w+|anxiety|adhd|autis\w+|migraine\w*|injur\w+|knee|back pain|epilep\w+|sober|therap\w+|diagnos\w+|disab\w+|deaf|blind|ibs|arthritis|anemi\w+|heart)\b",
    "money": r"工资|月薪|年薪|收入|存款|房贷|负债|欠款|贷款|股票|基金|理财|信用卡|债|\b(?:salary|income|debt|mortgage|savings|loan|owe|bankrupt\w*|paycheck|wage|invest\w*|net worth|rent|k on cards|pension)\b",
    "faith": r"信佛|佛教|基督|穆斯林|清真|回族|斋|礼拜|教徒|信教|同性恋|出柜|党员|\b(?:muslim|halal|kosher|jewish|christian|catholic|buddhist|hindu|ramadan|church|mosque|gay|lesbian|queer|trans|bisexual|religio\w+|pray\w*|sabbath|lent|atheist|vote\w*)\b",
    "budget": r"预算|块|元|万|千|\b(?:budget|price|spend|cost)\b|[$£€¥]\s?\d",
    "food": r"吃|喝|菜|饭|辣|素|肉|咖啡|茶|酒|奶|餐|\b(?:eat|drink|food|vegan|vegetarian|meat|coffee|tea|spicy|dairy|gluten|pork|beef|fish|nuts?|wine|beer|cook\w*|meal|recipe)\b",
    "answer": r"回答|回复|答案|代码|格式|语气|风格|注释|例子|示例|长度|简短|简洁|详细|直接|结论|列表|表格|表情|emoji|markdown|中文|英文|术语|废话|客套|\b(?:answers?|repl(?:y|ies)|respons\w+|code|format|tone|style|comments?|examples?|short|concise|brief|detail\w*|bullet\w*|tables?|emojis?|markdown|jargon|metric|english|summary|explanations?|steps)\b",
    "tool": r"[A-Za-z][\w.+#-]*\d|(?-i:[A-Z][a-z]+[A-Z]\w*)|\b(?:python|java|rust|go|react|vue|docker|k8s|postgres\w*|mysql|redis|linux|mac|windows|vim|vscode|git\w*|node|typescript|fastapi|django|rails|kubernetes|aws)\b",
    "project": r"项目|系统|产品|在做|在搞|在写|开发|毕设|论文|课题|小程序|app|网站|平台|装修|创业|书稿|专栏|小说|\b(?:project|building|working on|writing a|developing|launching|novel|thesis|app|startup|side project|product|website|paper|renovat\w+|prototype|game|codebase|repo|stack)\b",
    "number": r"\d|[一二三四五六七八九十百千万两]+(?:个|只|次|岁|年|天|块|元|万|公斤|斤|人|口|分钟|小时|条|点|号)",
    "age": r"\d+ ?岁|[一二三四五六七八九十]+岁|今年.{1,4}了|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]|\b(?:\d+ ?(?:years? old|yo|y/o)|turn(?:ed|ing)? \d+|aged? \d+|born in)\b",
    "pet": r"猫|狗|仓鼠|兔子|鹦鹉|乌龟|宠物|柯基|金毛|布偶|\b(?:cats?|dogs?|pupp(?:y|ies)|kitten|hamster|rabbit|parrot|tortoise|pets?|corgi|labrador|retriever|greyhound|horse)\b",
    "past": r"了$|过|以前|当年|去年|前年|小时候|曾经|那时候|\b(?:ago|last (?:year|month|week)|used to|was|were|had|did|once|back (?:in|when)|since)\b",
    "heard": r"听说|据说|看到|网上|说是|新闻|有人说|人家说|报道|文章|书里|电影|主角|博主|主播|up主|专家|名人|明星|作者|\b(?:heard|read (?:that|somewhere)|apparently|they say|article|news|movie|book says|character|author|influencer|famous|celebrity|rumou?r|according to|some (?:guy|astronaut|inventor|dude)|listing|the (?:barista|driver|guy|host|narrator))\b",
    "play": r"扮演|假装|角色|设定|口吻|人设|跑团|剧本|代入|第一人称|旁白|台词|你是一?[名个位]|\b(?:role ?play\w*|pretend|act as|you're (?:a|an|the)|you are (?:a|an|the)|persona|in character|character|monologue|voice of|from the perspective|play (?:a|the)|campaign|dnd|d&d|wizard|dragon)\b",
    "assent": r"^\W*(?:好|行|可以|嗯|对|没问题|就这|成|同意|ok|okay|是的|那就|说定|就按|中|妥)|^\W*(?:yes|yep|yeah|ok|okay|sure|deal|sounds good|agreed|perfect|go with|let's do|do it|works for me|great|fine|brilliant)\b",
    "wait": r"等你|记得(?:给|发|提醒)|别忘|那就等|期待|\b(?:don't forget|looking forward|waiting|hold you to|remind me|do that|please do|can't wait)\b",
    "secret": r"密码|口令|密钥|验证码|\[secret|sk-[\w-]{6,}|ghp_\w{6,}|AKIA\w{6,}|://\w+:\S+@|\b(?:password|passwd|pwd|api ?key|token|secret|pin|passcode|login)\b|\b\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}\b|身份证号|卡号",
    "so_you_know": r"你知道|跟你说|告诉你|说一下|提前说|先说好|交个底|说个事|备注|提醒你|\b(?:just so you know|fyi|btw|by the way|for context|heads up|for the record|context:|so you know|about me|since i'm new)\b",
    "because": r"因为|所以|毕竟|不然|否则|\b(?:because|cuz|cos|since|so that|so|otherwise|that's why)\b",
    "everyone": r"大家|所有人|人人|谁都|有些人|很多人|\b(?:people|everybody|everyone|anyone|folks|most people|humans)\b",
    "exclaim": r"[！!]",
    "ellipsis": r"…|\.\.\.|。。。",
    "emoji": r"[\U0001F300-\U0001FAFF\u2600-\u27BF]",
    "list": r"、|/|\+|\band\b|和|跟",
}
CUES: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        name: re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        for name, pattern in (*_PATTERNS.items(), *SHAPES.items())
    }
)
_WINDOW = 400


@lru_cache(maxsize=4_096)
def cues_in(text: str) -> tuple[str, ...]:
    """Name the cues in a clause.

    >>> "from_now" in cues_in("以后都用中文") and "not" in cues_in("I never eat fish")
    True
    """
    text = text[:_WINDOW].replace("’", "'")
    return tuple(name for name, pattern in CUES.items() if pattern.search(text))
