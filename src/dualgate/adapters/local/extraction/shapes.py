"""Shapes: the sentence forms in which people state things about themselves, or only seem to.

Rule: a shape is a form with a slot ("I'm a ...", 我对…过敏), never a particular sentence. Like cues,
shapes are evidence for the model; a shape that says "not in earnest" stands beside the one it mimics.
"""

from __future__ import annotations

from collections.abc import Mapping

_I = r"(?:i|we)"
_ROLE_ZH = (
    "师|员|生|手|工|长|家|者|医|警|兵|司机|经理|总监|助理|老板|店主|后端|前端|产品|运营|客服|顾问|教练|导游|主播|编辑|翻译|会计|出纳|护士|律师|博士|硕士|妈|爸"
    "|人|党|狗|迷|控"
)
_ROLE_EN = (
    r"(?:\w+(?:er|or|ist|ian|ant|eer|ess|smith|keeper|hand|man|woman)|nurse|student|chef|cook|pilot|midwife|parent|mum|mom|dad|widow|vegan|lead|head|guide"
    r"|intern|freelancer|coach|clerk|vet|medic|judge|monk|native|sophomore|undergrad|postdoc|phd)"
)

SHAPES: Mapping[str, str] = {
    "is_role": rf"我(?:就|其实|现在|本来|也|只)?(?:是|当|算)(?:一|个|名|位|做|搞|在|个)?.{{0,12}}(?:{_ROLE_ZH})|^(?:本人|坐标|职业)|^.{{0,6}}(?:{_ROLE_ZH})(?:一枚|出身)"
    rf"|\b(?:i'm|i am|we're|we are|as|been) (?:a|an|the|your|one of)? ?(?:[\w-]+ ){{0,4}}?{_ROLE_EN}\b|^(?:\w+ ){{0,3}}{_ROLE_EN} here\b",
    "does_work": r"我(?:们)?(?:在|给|替|帮).{1,14}(?:上班|工作|打工|当|做|教|读|念|实习)|我(?:们)?(?:负责|主管|管|带|分管|经营|开了?[家个间])|我(?:是)?做.{1,12}的"
    rf"|\b{_I} (?:work|teach|run|manage|lead|own|study|freelance|handle|translate|drive|sell|repair|coach|edit|teach|moderate|look after|co-?own|do the|major in)\b",
    "lives": r"(?:我|我们|家|人)(?:现在|目前|长期|常年|一直|都)?(?:住|定居|租住|在)(?:在)?[\u4e00-\u9fff]{2,}|老家|户口|籍贯|坐标"
    r"|\b(?:i|we) (?:live|grew up|was born|moved|rent)\b|\b(?:i'm|we're|i am|we are) (?:based|from|living|originally|located)\b",
    "body_is": r"过敏|不耐受|忌口|吃素|素食|乳糖|糖尿病|高血压|色弱|近视|耳背|怀孕|备孕|哺乳|左撇子|戒[酒烟糖]"
    r"|\b(?:allergic|intoleran\w+|vegan|vegetarian|pescatarian|sober|deaf|blind|diabetic|dyslexic|autistic|c(?:o)?eliac|asthmatic|pregnant|left-handed|epileptic|anaemic|colou?r-?blind)\b",
    "habit": r"(?:我|我们|我家|平时|一般)(?:平时|一般|通常|都|向来|从来|一直|基本|只|每[天周月年次]|习惯|常年|天天|经常|偶尔|很少)(?:上|都|是|不|只)?"
    rf"|\b{_I} (?:always|usually|normally|generally|never|only|mostly|tend to|rarely|hardly ever|mainly|prefer|typically)\b|\bevery (?:day|morning|night|week|month|summer|winter|sunday|weekend)\b",
    "has": r"(?:我|我们|我家|家里|屋里|手上|手头)(?:现在|一共|总共)?(?:有|养|没有|就)(?!没有|点|个问题|空|啥|什么)"
    r"|\b(?:i've got|i have|i own|we have|we've got|i keep|i don't have|we don't have|there (?:are|is) (?:\w+ )?of us|there's only)\b(?! to\b| a question| an? idea)",
    "standing_order": r"(?:以后|今后|往后|从现在|从今|从此|默认|一律|凡是|统一|永远|任何时候|每次|长期|任何情况下?|不管).{0,20}(?:用|给|写|说|发|别|不|要|都|先|按|改|叫|附|加|带|只|放|问)"
    r"|^(?:\W*(?:please|and|so|ok|also)\W+)?(?:always|never|from now on|going forward|from here on|whenever|every time|any ?time|by default|in future)\b|\b(?:always|never|don't ever) (?:use|give|write|start|end|put|include|call|send|suggest|recommend|show|add|ask|answer|reply|assume|skip|mention|quote|name)\b",
    "ban": r"^(?:请|麻烦|也|都|千万|一定|绝对)?(?:别|不要|不许|禁止|不准|勿|少)(?:再)?(?:给我|跟我|对我|用|说|写|发|推|提|叫|放|出现)?|(?:一概|绝不|坚决|死活|打死|一口|一滴|半点)(?:都|也)?不"
    r"|^(?:\W*(?:please|and|but|so|also)\W+)?(?:no|don't|do not|never|stop|avoid|skip|nothing|leave out)\b|\bno (?:more )?\w+ (?:in|on|for|from|at|after|before|ever)\b",
    "dislikes": r"我(?:真的|实在|特别|很|最|一直|向来|从来|基本|压根|就)?(?:不|没)(?:太|怎么|大|会|能)?(?:吃|喝|喜欢|爱|用|看|玩|碰|接受|习惯|穿|坐|住|买|信|感冒|感兴趣|听|养)|我?(?:最|很|特别|真的)?(?:讨厌|反感|受不了|嫌|怕|恨)"
    rf"|\b{_I} (?:really |just |honestly |absolutely )?(?:don't|can't|won't|do not|cannot|hate|dislike|avoid|refuse|loathe|detest)\b|can't stand|not (?:a fan|into|for me|my thing)|\bgot no time for\b",
    "likes": r"我(?:真的|实在|特别|很|最|更|比较|还是|就)?(?:喜欢|爱|偏爱|偏好|倾向|习惯|喜好|迷)(?!人)|最爱|爱好|更(?:喜欢|习惯)"
    rf"|\b{_I} (?:really |just |do |honestly |absolutely )?(?:like|love|prefer|enjoy|adore)\b|\bfavou?rite\b|\bi'm (?:into|obsessed|a fan|more of|partial)\b|\bi'd rather\b",
    "stack": r"(?:我们?|我这|项目|公司|线上|后端|前端|仓库|服务器?|系统|团队)(?:[\u4e00-\u9fff]{0,6})(?:用|跑|是|基于|升|迁|装|部署|写)[\u4e00-\u9fff]{0,4} ?[A-Za-z]|[A-Za-z][\w.+#]* ?\d[\d.]* ?(?:版|的?项目)"
    r"|\b(?:we|i|our \w+|my \w+|stack|backend|frontend|everything)(?:'re|'s| are| is)? ?(?:still |all |currently )?(?:on|use|uses|using|run|runs|running|in|written in|built (?:on|with|in)|deploy|host\w*) (?-i:[A-Z]|\w*\d)",
    "limit": r"(?:预算|上限|最多|不超过|不能超|以内|封顶|至少|顶多|控制在|起码|不低于).{0,8}[\d一二三四五六七八九十百千万两半]|[\d一二三四五六七八九十百千万两].{0,4}(?:以内|封顶|以下|打住|为限)"
    r"|\b(?:budget|max(?:imum)?|cap(?:ped)?|limit|under|at most|no more than|up to|at least|min(?:imum)?|ceiling)\b\D{0,16}\d|\d\S* (?:max|tops|at most|or less|limit|cap)\b",
    "decided": r"决定|敲定|选定|拍板|定了|定下来|说定|商量好|想好了|就(?:用|选|定|要|按|走|去|买).{1,12}(?:了|吧|$)|(?:改|换|迁|转|搬|升)(?:成|用|到|为|做|去|投)|放弃|不(?:考|买|做|去|用|上|续|租|装|要|打算|搞|走|报|学|干|养|找|请|办|招|接).{0,10}了(?!吗)"
    r"|\b(?:decided|settled|going with|went with|we'll go|switch(?:ed|ing)|dropp(?:ed|ing)|agreed|let's go with|let's lock|locked|final call|final answer|opted|signed off|approved|ditch\w*|shelv\w+|called off|cancell?ed|turned down|picked|chose|moving (?:off|to|from)|migrat\w+|it is$)\b",
    "promises": r"(?:我|我们|老子|本人).{0,8}(?:保证|答应|承诺|发誓|一定|负责|包了|来(?:做|写|搞|弄|出|盯|改))|答应(?:了)?.{1,10}(?:前|要|去|给|带|陪)|立(?:个)?(?:flag|军令状)|说到做到|拍(?:了|过)?胸脯"
    r"|\b(?:i'll (?:send|have|get|write|finish|deliver|do|bring|fix|submit|take|handle|be|pay|return|review|prepare|ship)|i (?:promise|swore|vow|owe|gave my word|committed)|i('ve)? promised|i told (?:\w+ ){1,4}i'd|i said i'd|count on me|that's on me)\b",
    "dated_event": r"(?:[\d一二三四五六七八九十]+[月号日]|下?周[一二三四五六日天末]|后天|明天|月底|年底|下个?月|昨天|前天|上周|上个?月).{0,14}(?:上线|交|考|搬|婚|手术|出发|到期|入职|开业|面试|答辩|住院|出院|毕业|生日?|开庭|交房|开学|发布|首演|比赛|去|回|飞|截止|转正|升|办|开)"
    r"|\b(?:due|launch\w*|wedding|married|surgery|operation|moving|moves?|starts?|exam|flights?|fly|expires?|runs out|born|baby|defen[cs]e|deadline|deliver\w*|open\w*|close|closing|graduat\w+|retir\w+|promoted|diagnosed|hired|quit|ship\w*|opening|court|hearing|interview)\b.{0,30}\b(?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tues|wed|thu|fri|sat|sun|next|tomorrow|yesterday|last)",
    "aged": r"(?:我|今年|刚满|快|都)\D{0,3}[\d一二三四五六七八九十]+ ?(?:岁|了$)|[89０-９]\d后|\b(?:i'm|i am|turned|turning|she's|he's|aged?) \d{1,2}\b(?!%| ?(?:min|hour|day|week|km|k\b))|\b\d{1,2}[- ](?:years?[- ]old|yo)\b",
    "family_state": r"已婚|离婚|离异|单身|丧偶|二胎|单亲|独生|未婚|订婚|[一二三四五六]口人|双胞胎|\b(?:married|divorced|single (?:mum|mom|dad|parent)|pregnant|widow(?:er|ed)?|expecting|engaged|twins|only child|empty nester)\b",
    "kin_is": r"(?:我|咱)(?:们)?家?(?:的)?(?:[\u4e00-\u9fff]{0,2})(?:爸|妈|奶奶|爷爷|外婆|外公|姥姥|姥爷|哥|姐|弟|妹|公|婆|丈夫|妻子|太太|先生|儿子|女儿|闺女|娃|孩子|室友|女友|男友|朋友|岳父|岳母|婆婆|侄|舅|姑|叔|姨)(?:也|都|就|特别|现在|今年|一直|从来)?(?:是|有|不|只|住|在|吃|怕|对|没|会|喜欢|爱|患|得|做|刚|叫|过敏)"
    r"|\bmy (?:\w+ )?(?:mum|mom|mother|dad|father|wife|husband|partner|son|daughter|kids?|brother|sister|gran\w*|nan|girlfriend|boyfriend|roommate|flatmate|in-laws|youngest|oldest|eldest|other half|niece|nephew|cousin|uncle|aunt)(?:'s| is| has| had| can't| won't| doesn't| does| lives| only| hates| loves| needs| never| always| works| are| have| don't| refuses| gets| turned| goes)",
    "named": r"叫我|我叫|我姓|(?:昵称|笔名|网名|代号|艺名|小名)|名字(?:叫|是)|称呼我|\b(?:call me|my name|name's|goes by|go by|pronouns|nickname|pen name|codenamed?|named|called)\b",
    "policy": r"(?:我们|咱们?|我)(?:公司|团队|店|学校|平台|部门|小?组|这边|单位|厂|所|院|财务|法务|老板|领导)?.{0,6}(?:规定|不让|不许|不准|只认|只收|要求|统一|必须|禁止|禁用|规矩|制度|死规定)"
    r"|\b(?:our|company|house|team|legal|it|finance|the office|compliance|school|client)(?: \w+)? (?:policy|rule|says|requires?|only|won't|doesn't allow|blocks?|locks?|insists?|wants|forbids)\b|\bnot allowed\b",
    "definition": r"(?:我说的?|我讲的?|所谓的?).{0,3}[“「'\"].{1,10}[”」'\"].{0,4}(?:指|就是|是|意思)|[“「].{1,8}[”」](?:就是|指的?是|代表)|\b(?:when i say|by ['\"‘].{1,20}['\"’] i mean|means? the|stands for|is (?:short|code) for)\b",
    "conditional_order": r"(?:我|你)(?:发|贴|问|说|让|要|写|给|答).{1,12}(?:的时候|时|就|你就|你先|你都|默认|，)|只要我|每当|一旦|凡是|但凡|遇到.{1,10}(?:就|要|先|都)|\b(?:when(?:ever)?|every time|any ?time|if) (?:i|you|a|an|someone|we|customers?|there's)\b.{2,40}[,]?",
    "moment": r"^(?:我|这|今|现|刚|待|等|正).{0,4}(?:今天|今晚|今早|刚刚?|现在|这会儿?|等会|待会|这两天|这几天|这周|正在|在开会|在路上)|今晚|今早|这会儿|等下|待会|刚刚|这两天|这几天"
    r"|\b(?:right now|just now|at the moment|this (?:morning|afternoon|evening|week|weekend)|tonight|today|i just|i'm (?:about to|off to|heading|on my way|stuck|waiting|in a meeting|on (?:a|the) (?:train|bus|call))|brb|back in)\b",
    "one_off": r"这(?:次|回|篇|份|封|段|版|张|趟|道|题|轮|单|首|条|批)|就这(?:一|次|个)|下不为例|先(?:这样|凑合|顶|用|不)|暂时|临时|这里(?:先|用|改)"
    r"|\b(?:this (?:one|time|once|email|deck|draft|essay|paragraph|trip|reply|version|piece|report|slide|poem|batch|job)|just (?:this|once|for)|for (?:now|this|once|today)|temporar\w+|until (?:monday|tomorrow|tonight|then))\b",
    "task_order": r"^(?:请|麻烦)?(?:帮我?|给我|替我|把|写|翻译|润色|总结|列|画|算|改|查|推荐|解释|生成|做|来|找|排|起|讲|说说|再|换|续写|缩写|扩写)(?!人)|怎么(?:办|做|弄|写|改|说|回|选|走|洗|去)"
    r"|^(?:\W*(?:please|pls|can you|could you|now|ok|then|and)\W+)*(?:help|write|translate|fix|make|give|show|explain|list|draft|find|suggest|recommend|rewrite|summari\w+|convert|turn|generate|shorten|proofread|check|edit|tell|plan|compare|add|change|put|send|run|try|pick|name|swap|cut|move|remove|delete)\b",
    "sarcasm": r"可真(?:是)?(?:好|棒|行|厉害)|真是(?:太|谢|够)|我(?:就|可太|最)(?:喜欢|爱).{2,}(?:了|呢|~|🙃)|太好了.{0,4}又|谢谢你?(?:全家|啊)|真棒|好极了|不愧是|(?:才怪|呵呵|🙃|🙄)|我谢谢"
    r"|^(?:oh|yeah|sure|great|wow|fantastic|brilliant|lovely)[, !]+(?:i|just|so|another|what|because|my|let's)|i just love|nothing (?:i|says|beats)|so glad|lucky me|my (?:new )?favou?rite (?:hobby|thing|part)|what a (?:joy|treat|surprise)|living the dream|(?:🙃|🙄)|as if|can't wait to \w+ (?:again|another)|just what i needed",
    "absurd": r"上辈子|下辈子|火星|外星|穿越|拯救世界|统治|转世|成仙|皇帝|宇宙|灵魂|续命|本鱼|废物|咸鱼|董事长|首富|世界首|诺贝尔|永生"
    r"|\b(?:past life|pigeon|mars|aliens?|emperor|immortal|kidney|soul|ceo of|world champion|professional (?:napper|procrastinator|overthinker)|100%|personality trait|spirit animal|toxic trait|love language|certified)\b",
    "other_subject": r"^(?:他|她|隔壁|楼下|楼上|对面|有个|有人|那个|那家|一个|某|同事|网友|博主|主播|专家|老师|作者|电影|书里|新闻|人家|路上|听说|据说|导游|司机|客户|领导|老板)"
    r"|^(?:\W*(?:so|and|but|lol|omg|wow)\W+)?(?:he|she|they|the (?:guy|lady|man|woman|driver|author|host|barista|neighbou?r|actor|teacher|kid|new)|some (?:guy|actor|lady|dude)|an? (?:actor|guy|friend|colleague|man|woman|celebrity)|someone|people|most|our (?:uber|driver|waiter|guide|neighbou?r))\b",
    "own_question": r"我.{0,14}(?:吗|呢[？?]|[？?]|怎么|什么|哪|多少|能不能|可不可以|要不要|该不该|是不是)|\b(?:should|can|do|could|may|would|am|did|have|will) i\b|\bwhat (?:should|do|can) i\b|\bhow (?:do|can|should) i\b",
    "supposed": r"^(?:如果|假如|要是|万一|假设|倘若|设想|比方|就算|哪怕)|^(?:\W*(?:and|but|so|ok)\W+)?(?:if|suppose|imagine|let's say|what if|pretend|say i|even if|hypothetically)\b|\bif i (?:were|was|had|ever)\b",
    "memory_test": r"你(?:还)?(?:记得|知道|记不记得|还记).{0,12}(?:我|吗)|我(?:之前|上次)?(?:是不是)?(?:跟你|告诉过|说过).{0,10}(?:吗|？|\?|来着)|\b(?:do you (?:remember|know|recall)|did i (?:tell|mention)|have i told|didn't i|what did i)\b",
    "fault_now": r"报错|卡住|卡死|崩了|挂了|跑不|连不|打不开|闪退|不动|失败|没反应|超时|一直转|不显示|不生效|乱码|\b(?:error|crash\w*|fails?|failing|broken|stuck|hangs?|won't (?:start|load|open|build|connect)|doesn't (?:work|load|start)|throws|timeout|timing out|404|500|502|null|undefined)\b",
    "opinion": r"我(?:觉得|感觉|认为|怀疑|猜|发现|看)|在我看来|\b(?:i think|i feel like|i guess|imo|seems?|looks like|i bet|i suspect|i noticed|i wonder|i doubt)\b",
    "tried": r"我(?:试|看|查|装|跑|改|写|搜|问|翻|读|听|点|重启)(?:了|过|完)|\bi (?:tried|read|saw|checked|installed|ran|changed|looked|searched|googled|clicked|restarted|watched|heard)\b",
    "undecided": r"我?(?:在)?(?:想|打算|准备|考虑|计划|琢磨|纠结|犹豫|还没想好|不一定|可能|也许|说不定|再看|随便|都行|无所谓)|\b(?:thinking (?:of|about)|considering|might|maybe|not sure|haven't decided|undecided|tempted|hoping to|would love|wish|someday|one day|we'll see|whatever|either works|don't mind|no idea|toying with)\b",
    "earlier_value": r"(?:之前|上次|以前|原来|本来|早先)(?:跟你|告诉|说|讲|是|用|住|那个|爱|喜欢|的)|不是.{1,14}(?:，|是|而是|改)|从.{1,10}(?:改|换|搬|迁|转|升|调|推|挪)(?:成|到|去|为|至)|(?:改|换|搬|迁|转|作废|取消|更新|更正|纠正|说错|记错|搞错|早就不|已经不|不再)"
    r"|\b(?:used to|not \w+ (?:anymore|any more|any longer)|no longer|instead of|rather than|from \w+ to|moved (?:off|from|to)|(?:i|we) said|i told you|scratch|ignore what|forget what|correction|i meant|changed|switched|actually|it's .{1,20}, not|not .{1,20}, it's|anymore|now it's|these days|make (?:that|it)|update:|wrong)\b",
}
