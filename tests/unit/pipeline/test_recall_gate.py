"""How often the topic gate lets in what it should not, and keeps out what it should let in [R3].

The queries here were not used to choose the thresholds.
"""

from __future__ import annotations

import pytest_asyncio

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.memory import open_memory
from dualgate.adapters.tokens import TiktokenCounter
from dualgate.domain.relevance import GENERAL_TYPES
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.pipeline.recall import recall
from dualgate.pipeline.recipes import ReadPolicy
from dualgate.testing.backend import write
from dualgate.testing.builders import MONDAY, USER, a_plan, an_item

EMBEDDER = UseEmbedder()
TOKENS = TiktokenCounter()

FACTS = """
identity|用户是成都的一名产品经理
identity|The user is a freelance illustrator based in Lisbon
preference|用户喜欢用表格看对比
preference|The user prefers answers in bullet points
preference|用户不喜欢过于客套的语气
constraint|用户乳糖不耐受，不能喝牛奶
constraint|Never deploy on Fridays
rule|提交信息要用英文写
rule|All amounts are shown in euros
project|项目叫北极星，是一个二手书交易小程序
project|The team is building a warehouse robot dashboard called Beacon
project|后端从 Django 换成了 Go
decision|支付渠道最终选了微信支付
decision|We decided to postpone the launch until September
decision|放弃了自建机房，全部上云
commitment|周五之前要把需求文档发给赵敏
commitment|The assistant will draft the onboarding email
event|The user is travelling to Osaka in October
event|下个月十号团队搬到新办公室
event|用户每周六上午带孩子学游泳
fact|用户的搭档叫陈晨，负责设计
fact|The staging server is called heron
fact|The user's dog Biscuit is afraid of thunder
fact|用户的车停在地下二层
""".strip().splitlines()

ANSWERED = """
我在哪个城市工作？|用户是成都的一名产品经理
我喝拿铁有没有问题？牛奶|用户乳糖不耐受，不能喝牛奶
What is Beacon?|The team is building a warehouse robot dashboard called Beacon
我们的小程序是卖什么的？|项目叫北极星，是一个二手书交易小程序
上次支付方式定了哪个？|支付渠道最终选了微信支付
When do we launch?|We decided to postpone the launch until September
需求文档什么时候要交？|周五之前要把需求文档发给赵敏
Where am I travelling in October?|The user is travelling to Osaka in October
我家孩子周末学什么？|用户每周六上午带孩子学游泳
赵敏|周五之前要把需求文档发给赵敏
heron 还在跑吗|The staging server is called heron
What is my dog afraid of?|The user's dog Biscuit is afraid of thunder
我的车停在哪里？|用户的车停在地下二层
What did you promise to draft?|The assistant will draft the onboarding email
什么时候搬办公室？|下个月十号团队搬到新办公室
我们后端用什么语言？|后端从 Django 换成了 Go
""".strip().splitlines()

OFF_TOPIC = """
月球到地球有多远
诗经里最有名的一首是哪首
怎么煮溏心蛋
解释一下相对论
人为什么会做梦
帮我把这句话翻成法语：天气真好
世界杯几年举办一次
蜜蜂怎么酿蜜
推荐一本讲宋朝历史的书
感冒和流感有什么区别
怎样把照片压缩到一兆以内
写一个关于海盗的小故事
长城有多长
火山是怎么喷发的
圆周率是多少
给我出三道数学题
小提琴和中提琴有什么不同
端午节为什么吃粽子
哪些植物适合放在阳台
讲讲文艺复兴
How far away is the moon
Which metals are magnetic
How do I poach an egg
Explain general relativity
Why do people dream
Translate this into German: the sky is clear
How often is the World Cup held
How do bees make honey
Recommend a book on the Roman Empire
What is the difference between a virus and a bacterium
How do I compress a photo
Write a short story about pirates
How long is the Great Wall
How do volcanoes erupt
What are the first digits of pi
Give me three riddles
How does a violin differ from a viola
Why do leaves change colour
Which herbs grow indoors
Tell me about the Renaissance
""".strip().splitlines()

EMPTY = """
多谢多谢
好嘞
嗯
晚安
收到，谢谢
哈哈哈哈哈
可以的
👌👌
。。。
太好了！
Cheers
Good night!
ok great, thanks a lot
haha nice
see you later
yep
🙏
perfect, thank you
gribble snorp 5521 vant
wexlit oomba drazz
咕叽咕叽哩哩
qpwoeiruty
8812 4470 0091
噼里啪啦哐当
mmmmm
""".strip().splitlines()


@pytest_asyncio.fixture
async def store():
    backend = open_memory()
    items = [
        an_item(content, id=content, item_type=ItemType(kind), status=Status.CONFIRMED)
        for kind, content in (line.split("|") for line in FACTS)
    ]
    vectors = await EMBEDDER.embed([item.content for item in items])
    await write(
        backend,
        a_plan(*items),
        vectors={item.id: vector for item, vector in zip(items, vectors, strict=True)},
    )
    return backend.store


async def hits(store, query):
    found, _ = await recall(
        store, EMBEDDER, TOKENS, user_id=USER, query=query, now=MONDAY, policy=ReadPolicy()
    )
    return [hit.item for hit in found.hits]


async def test_three_in_a_hundred_off_topic_queries_at_most_bring_more_than_general_items(store):
    wrong = [q for q in OFF_TOPIC if {i.item_type for i in await hits(store, q)} - GENERAL_TYPES]

    assert len(wrong) <= 0.03 * len(OFF_TOPIC), wrong


async def test_two_in_a_hundred_empty_turns_at_most_bring_anything(store):
    wrong = [q for q in EMPTY if await hits(store, q)]

    assert len(wrong) <= 0.02 * len(EMPTY), wrong


async def test_most_questions_find_their_answer_among_the_first_five(store):
    pairs = [line.split("|") for line in ANSWERED]
    missed = [q for q, answer in pairs if answer not in [i.id for i in (await hits(store, q))[:5]]]

    assert len(missed) <= 0.15 * len(pairs), missed
