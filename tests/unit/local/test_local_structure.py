"""Structure is read where it is missing, and never overridden [C1]."""

from __future__ import annotations

import pytest

from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.domain.items import Candidate
from dualgate.domain.types import Cardinality, ItemType, Polarity

STRUCTURER = LexiconStructurer()


def stated(content: str, **given: object) -> Candidate:
    return Candidate(ItemType.PREFERENCE, content, confidence=0.9, **given)


@pytest.mark.parametrize(
    ("content", "attribute", "value"),
    [
        ("用户偏好简短的回复", "reply_length", "concise"),
        ("User likes brief answers", "reply_length", "concise"),
        ("回答要详尽", "reply_length", "detailed"),
        ("用轻松的语气回复", "tone", "casual"),
        ("请用德语回复", "reply_language", "german"),
        ("User prefers reading docs in Japanese", "material_language", "japanese"),
        ("用户叫王芳", "name", "王芳"),
        ("叫我阿泽", "nickname", "阿泽"),
        ("用户今年31岁", "age", "31"),
        ("User is 31 years old", "age", "31"),
        ("我住在成都", "home", "chengdu"),
        ("User lives in Chengdu", "home", "chengdu"),
        ("用户在华为上班", "employer", "huawei"),
        ("User works at Siemens", "employer", "siemens"),
        ("我是护士", "job", "nurse"),
        ("用户妻子是律师", "spouse_job", "lawyer"),
        ("用户对芒果过敏", "allergy", "mango"),
        ("User is allergic to mango", "allergy", "mango"),
        ("用户养了两只狗", "pet", "dog"),
        ("User has three kids", "children", "3"),
        ("预算改为20万", "budget", "200000"),
        ("从 MySQL 换成了 TiDB", "database", "tidb"),
        ("We moved from Oracle to SQLite", "database", "sqlite"),
        ("前端用 Svelte 写", "frontend_framework", "svelte"),
        ("服务部署在腾讯云上", "deployment", "tencent cloud"),
        ("缩进用四个空格", "indent", "4 spaces"),
        ("变量命名用驼峰", "naming_style", "camelcase"),
        ("项目代号是北极星", "codename", "北极星"),
        ("Project codename is Polaris", "codename", "polaris"),
        ("用户属于夜猫子", "chronotype", "night owl"),
        ("最终选择方案C", "chosen_option", "c"),
        ("用户石拱桥的截止日期改到了2026-06-07", "deadline", "2026-06-07"),
        ("用户石拱桥的数据库用的是CouchDB", "database", "couchdb"),
        ("The database of Sundial is CouchDB", "database", "couchdb"),
        ("用户车轮渡部署在Netcup上", "deployment", "netcup"),
        ("The user hosts Halyard at Fly.io", "deployment", "fly.io"),
        ("用户最爱喝普洱", "favorite_drink", "普洱"),
        ("The user's favourite drink is chai", "favorite_drink", "chai"),
        ("The user uses Helix as an editor", "editor", "helix"),
        ("The user likes the assistant to recommend German sources", "material_language",
         "german"),
    ],
)
def test_a_common_slot_is_read(content: str, attribute: str, value: str) -> None:
    found = STRUCTURER.complete(stated(content))

    assert (found.attribute, found.value) == (attribute, value)
    assert found.polarity is Polarity.POSITIVE


@pytest.mark.parametrize(
    ("content", "attribute", "value"),
    [
        ("不要用表格", "format", "table"),
        ("User does not like emojis in replies", "format", "emoji"),
        ("用户不喝咖啡", "food", "coffee"),
        ("User hates running", "hobby", "running"),
    ],
)
def test_a_denial_gives_negative_polarity(content: str, attribute: str, value: str) -> None:
    found = STRUCTURER.complete(stated(content))

    assert (found.attribute, found.value, found.polarity) == (attribute, value, Polarity.NEGATIVE)


@pytest.mark.parametrize("content", ["用户偏好简短的代码示例", "User prefers short code examples"])
def test_a_modifier_becomes_a_qualifier_and_not_the_value(content: str) -> None:
    found = STRUCTURER.complete(stated(content))

    assert (found.attribute, found.value) == ("format", "code examples")
    assert found.qualifiers == ("concise",)


@pytest.mark.parametrize(
    ("content", "attribute", "owner"),
    [
        ("初稿的截止日期是6月8日", "deadline", ("初稿",)),
        ("项目的截止日期是6月8日", "deadline", ()),
        ("The deadline for the draft is June 8", "deadline", ("draft",)),
        ("用户买手机的预算是五千", "budget", ("买手机",)),
        ("这个项目的预算是五千", "budget", ()),
    ],
)
def test_what_a_deadline_or_a_budget_is_of_keeps_two_apart(
    content: str, attribute: str, owner: tuple[str, ...]
) -> None:
    found = STRUCTURER.complete(stated(content))

    assert (found.attribute, found.qualifiers) == (attribute, owner)


def test_what_the_extractor_gave_is_never_overridden() -> None:
    given = stated(
        "用户偏好简短的回复", attribute="style", value="长", qualifiers=("always",), polarity="-"
    )

    assert STRUCTURER.complete(given) == given


def test_a_foreign_attribute_keeps_its_open_value_open() -> None:
    given = stated("用户住在成都", attribute="favourite_city")

    assert STRUCTURER.complete(given) == given


def test_only_the_missing_value_is_filled_in() -> None:
    found = STRUCTURER.complete(stated("用户住在成都", attribute="home", polarity="-"))

    assert (found.attribute, found.value, found.polarity) == ("home", "chengdu", Polarity.NEGATIVE)


@pytest.mark.parametrize(
    "content",
    [
        "用户周末去爬了山",
        "The launch went well",
        "用户在一家小公司",
        "User lives in a flat",
        "😀",
        "a" * 2_000,
        "用户喜欢 MySQL 和 Oracle 的文档",
    ],
)
def test_no_slot_is_better_than_a_wrong_one(content: str) -> None:
    found = STRUCTURER.complete(stated(content))

    assert found.attribute is None
    assert found.value is None


@pytest.mark.parametrize(
    ("attribute", "item_type", "cardinality"),
    [
        ("home", ItemType.IDENTITY, Cardinality.ONE),
        ("allergy", ItemType.CONSTRAINT, Cardinality.MANY),
        ("hobby", ItemType.PREFERENCE, Cardinality.MANY),
        (" Hobbies ", ItemType.PREFERENCE, Cardinality.MANY),
        ("something_new", ItemType.FACT, Cardinality.ONE),
        ("something_new", ItemType.COMMITMENT, Cardinality.MANY),
    ],
)
def test_a_slot_nobody_listed_holds_one_value(
    attribute: str, item_type: ItemType, cardinality: Cardinality
) -> None:
    assert STRUCTURER.cardinality_of(attribute, item_type) is cardinality


@pytest.mark.parametrize(
    ("attribute", "one", "other", "same"),
    [
        ("reply_length", "简短", "brief", True),
        ("reply_length", "简短", "detailed", False),
        ("database", "Postgres", "PostgreSQL", True),
        ("home", "成都", "Chengdu", True),
        ("budget", "5万元", "50,000 yuan", True),
        ("budget", "5万元", "20万元", False),
    ],
)
def test_values_are_compared_by_meaning(
    attribute: str, one: str, other: str, *, same: bool
) -> None:
    assert STRUCTURER.same_value(attribute, one, other) is same


@pytest.mark.parametrize(
    "content",
    ["What suits the user is when the assistant leaves out emojis.",
     "The user wants the assistant to use lists and leave emojis out."],
)  # fmt: skip
def test_what_is_left_out_is_denied(content: str) -> None:
    emoji = STRUCTURER.complete(stated("The user wants the assistant to leave out emojis, use none."))

    assert STRUCTURER.complete(stated(content)).polarity is Polarity.NEGATIVE
    assert (emoji.attribute, emoji.polarity) == ("format", Polarity.NEGATIVE)


def test_what_works_for_the_user_is_no_employer() -> None:
    content = "No meetings after 18, please, that never works for the user."

    assert STRUCTURER.complete(stated(content)).attribute is None


def test_hosts_of_two_projects_stand_side_by_side() -> None:
    one = STRUCTURER.complete(stated("The user hosts Halyard at Fly.io"))
    other = STRUCTURER.complete(stated("The user: Sundial is deployed on OVH"))

    assert (one.qualifiers, other.qualifiers) == (("halyard",), ("sundial",))
