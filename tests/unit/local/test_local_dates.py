"""Dates resolve in the speaker's own time zone; stored sentences hold none that need today [W4]."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualgate.adapters.local.almanac import feast, lunar
from dualgate.adapters.local.dates import absolute, resolve
from dualgate.errors import InvalidInputError

# Wednesday, 4 March 2026.
AT = datetime.fromisoformat("2026-03-04T10:00:00+08:00")

DAYS = [
    ("今天", "03-04"), ("昨天", "03-03"), ("前天", "03-02"), ("大前天", "03-01"), ("明天", "03-05"),
    ("后天", "03-06"), ("大后天", "03-07"), ("下周三", "03-11"), ("这周五", "03-06"), ("上周五", "02-27"),
    ("上上周四", "02-19"), ("下下周一", "03-16"), ("礼拜天去爬山", "03-08"), ("周五交报告", "03-06"),
    ("周一刚搬了家", "03-02"), ("月底", "03-31"), ("年底前", "12-31"), ("五月底", "05-31"),
    ("三天前", "03-01"), ("两周后", "03-18"), ("10天后", "03-14"), ("5月20号", "05-20"),
    ("五月二十", "05-20"), ("三月八日", "03-08"), ("8号要出差", "03-08"), ("上个月28号", "02-28"),
    ("下个月18号办婚礼", "04-18"), ("廿三号", "03-23"), ("国庆", "10-01"), ("中秋", "09-25"),
    ("端午", "06-19"), ("除夕回了家", "02-16"), ("农历八月十五", "09-25"), ("十一之前做完", "10-01"),
    ("清明扫墓", "04-05"), ("昨晚", "03-03"), ("明早", "03-05"), ("明天下午三点", "03-05"),
    ("下個禮拜三", "03-11"), ("後天", "03-06"), ("上個月28號", "02-28"), ("農曆八月十五", "09-25"),
    ("today", "03-04"), ("yesterday", "03-03"), ("tomorrow", "03-05"), ("tonight", "03-04"),
    ("the day after tomorrow", "03-06"), ("the day before yesterday", "03-02"),
    ("last Friday", "02-27"), ("last Tuesday", "03-03"), ("this Friday", "03-06"),
    ("next Friday", "03-13"), ("next Monday", "03-09"), ("next Tuesday", "03-10"),
    ("Wednesday next week", "03-11"), ("in two weeks", "03-18"), ("three days ago", "03-01"),
    ("by the 22nd", "03-22"), ("we met on the 2nd", "03-02"), ("March 5", "03-05"),
    ("March 5th", "03-05"), ("5 March", "03-05"), ("the 5th of March", "03-05"),
    ("the first of September", "09-01"), ("2026-03-05", "03-05"), ("due 1 Dec", "12-01"),
    ("end of the month", "03-31"), ("by the end of May", "05-31"), ("Christmas", "12-25"),
    ("Thanksgiving", "11-26"), ("Easter", "04-05"), ("Thursday the 5th", "03-05"),
    ("it's due Monday", "03-09"), ("we met on Monday", "03-02"), ("12/25/2026", "12-25"),
    ("the 28th of last month", "02-28"), ("last night we shipped", "03-03"),
    ("Lunar New Year", "02-17"), ("上个月月底", "02-28"), ("三天内完成", "03-07"),
]  # fmt: skip

PERIODS = [
    ("上周末", "2026-02-28", "2026-03-01", "week"), ("周末", "2026-03-07", "2026-03-08", "week"),
    ("下周", "2026-03-09", "2026-03-15", "week"), ("上个月", "2026-02-01", "2026-02-28", "month"),
    ("本月中旬", "2026-03-11", "2026-03-20", "week"), ("去年", "2025-01-01", "2025-12-31", "year"),
    ("明年三月", "2027-03-01", "2027-03-31", "month"), ("去年夏天", "2025-06-01", "2025-08-31", "month"),
    ("三季度", "2026-07-01", "2026-09-30", "month"), ("3月1日到5日", "2026-03-01", "2026-03-05", "day"),
    ("3月30日到4月2日", "2026-03-30", "2026-04-02", "day"), ("22-25号", "2026-03-22", "2026-03-25", "day"),
    ("last week", "2026-02-23", "2026-03-01", "week"), ("next month", "2026-04-01", "2026-04-30", "month"),
    ("last year", "2025-01-01", "2025-12-31", "year"), ("last summer", "2025-06-01", "2025-08-31", "month"),
    ("early April", "2026-04-01", "2026-04-10", "week"), ("Q3", "2026-07-01", "2026-09-30", "month"),
    ("from March 3 to March 5", "2026-03-03", "2026-03-05", "day"),
    ("二〇二五年三月", "2025-03-01", "2025-03-31", "month"), ("2025年", "2025-01-01", "2025-12-31", "year"),
    ("first week of May", "2026-05-01", "2026-05-07", "week"), ("over the weekend", "2026-03-07", "2026-03-08", "week"),
    ("the week after next", "2026-03-16", "2026-03-22", "week"),
    ("We moved in March", "2026-03-01", "2026-03-31", "month"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_a_day_is_found(text: str, day: str) -> None:
    (found,) = resolve(text, AT)

    assert found.date.isoformat() == f"2026-{day}"
    assert not found.recurring


@pytest.mark.parametrize(("text", "first", "last", "precision"), PERIODS)
def test_a_longer_time_has_a_first_and_a_last_day(
    text: str, first: str, last: str, precision: str
) -> None:
    (found,) = resolve(text, AT)

    assert (str(found.date), str(found.last), found.precision) == (first, last, precision)


@pytest.mark.parametrize(
    ("text", "following"),
    [
        ("每周三下午开会", "03-04"), ("每周五", "03-06"), ("每月15号", "03-15"), ("周二四上课", "03-10"),
        ("周日雷打不动给妈妈打电话", "03-08"), ("每年5月20日", "05-20"), ("every Tuesday", "03-10"),
        ("on Mondays", "03-09"), ("every other Friday", "03-06"), ("生日是5月20日", "05-20"), ("my birthday is June 3", "06-03"),
        ("goes out first Tuesday of the month", "03-10"), ("on the last Friday of every month", "03-06"),
    ],
)  # fmt: skip
def test_what_comes_back_is_recurring_and_names_the_next_day(text: str, following: str) -> None:
    found = resolve(text, AT)[0]

    assert found.recurring
    assert found.date.isoformat() == f"2026-{following}"


@pytest.mark.parametrize(
    "text",
    [
        "号码", "第三号楼", "三个月大的猫", "我有两天没睡", "半天", "I may go",
        "on the 3rd floor", "the 2nd time", "in a second", "03/04/2026", "3.15", "最近", "recently",
        "十一个人", "version 3.4", "上网", "下班", "a Monday.com board",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert resolve(text, AT) == ()


def test_a_bare_clock_time_is_marked_as_without_a_day() -> None:
    (found,) = resolve("下午3点开会", AT)

    assert found.precision == "time"
    assert not found.anchored


def test_a_clock_time_joins_its_day() -> None:
    text = "The call is tomorrow at 3pm sharp"
    (found,) = resolve(text, AT)

    assert text[found.start : found.end] == "tomorrow at 3pm"
    assert (found.precision, found.anchored) == ("time", True)


def test_the_offset_of_the_speaker_decides_what_today_is() -> None:
    instant = datetime.fromisoformat("2026-03-04T23:30:00-05:00")
    same = instant.astimezone(datetime.fromisoformat("2026-01-01T00:00:00+08:00").tzinfo)

    assert str(resolve("today", instant)[0].date) == "2026-03-04"
    assert str(resolve("today", same)[0].date) == "2026-03-05"
    assert resolve("today", instant)[0].when.utcoffset() == timedelta(hours=-5)


def test_a_moment_without_a_time_zone_is_refused() -> None:
    with pytest.raises(InvalidInputError) as refused:
        resolve("today", datetime(2026, 3, 4))  # noqa: DTZ001

    assert refused.value.argument == "at"


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("用户昨天升任经理", "用户2026-03-03升任经理"),
        ("用户上周五离职", "用户2026-02-27离职"),
        ("用户明天下午三点面试", "用户2026-03-05下午三点面试"),
        ("用户去年国庆结的婚", "用户去年国庆（2025-10-01）结的婚"),
        ("用户每周三开例会", "用户每周三开例会"),
        ("2025年12月3日签的合同", "2025年12月3日签的合同"),
        ("用户2025年底搬家", "用户2025年底搬家"),
        ("用户生日是5月20日", "用户生日是5月20日"),
        ("Have it by the 17th", "Have it by 2026-03-17"),
        ("用户上个月搬家", "用户2026年2月搬家"),
        ("User quit last Friday", "User quit on 2026-02-27"),
        ("The report is due next Tuesday", "The report is due on 2026-03-10"),
        ("User will finish by tomorrow", "User will finish by 2026-03-05"),
        ("User moved last month", "User moved in February 2026"),
        ("User runs every Tuesday", "User runs every Tuesday"),
        ("Prepare tomorrow's meeting", "Prepare 2026-03-05's meeting"),
    ],
)
def test_a_stored_sentence_does_not_need_today(said: str, stored: str) -> None:
    assert absolute(said, AT) == stored


_BARE = re.compile(
    r"(?<!\d)(?:昨天|今天|明天|上周|下周|yesterday|tomorrow|(?:last|next) (?:week|month|year|\w+day))"
)


SPAN = st.datetimes(datetime(2020, 3, 1), datetime(2034, 12, 1))  # noqa: DTZ001  hypothesis asks for naive ends
EVER = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))  # noqa: DTZ001  likewise


@given(SPAN, st.sampled_from(DAYS + [period[:2] for period in PERIODS]))
@settings(max_examples=300, deadline=None)
def test_whatever_the_day_nothing_relative_stays(day: datetime, example: tuple[str, str]) -> None:
    at = day.replace(tzinfo=AT.tzinfo)

    assert not _BARE.search(absolute(example[0], at))


@given(st.text(max_size=300), EVER)
@settings(max_examples=150, deadline=None)
def test_no_text_and_no_day_makes_it_raise(text: str, day: datetime) -> None:
    for found in resolve(text, day.replace(tzinfo=AT.tzinfo)):
        assert text[found.start : found.end]
        assert found.date <= found.last


@pytest.mark.parametrize("said", ["去年", "上周末", "9月30日", "last year", "999 years ago", "明年三月"])
@pytest.mark.parametrize("year", [1, 9999])
def test_the_ends_of_the_calendar_do_not_make_it_raise(said: str, year: int) -> None:
    # A day later than the first: one that UTC cannot hold is refused before it gets here.
    for day in (datetime(year, 1, 2, tzinfo=AT.tzinfo), datetime(year, 12, 31, tzinfo=AT.tzinfo)):
        assert len(resolve(said, day)) <= 1


def test_ten_thousand_characters_take_little_time() -> None:
    text = "我下周三要去上海开会，then next Friday we ship version 3 on March 5. " * 160
    started = time.process_time()
    found = resolve(text, AT)

    assert len(found) == 160 * 3
    assert time.process_time() - started < 1.0


def test_lunar_dates_agree_with_the_almanac() -> None:
    new_years = {2020: "01-25", 2025: "01-29", 2026: "02-17", 2030: "02-03", 2034: "02-19", 2035: "02-08"}
    for year, day in new_years.items():
        assert str(lunar(year, 1, 1)) == f"{year}-{day}"

    assert str(feast("中秋", 2033)) == "2033-09-08"  # the year of the leap eleventh month
    assert lunar(2036, 1, 1) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [("the first Tuesday of May", "05-05"), ("on the last Friday of April", "04-24"), ("3rd Monday in June", "06-15")],
)  # fmt: skip
def test_a_numbered_weekday_of_a_month_is_a_day(text: str, day: str) -> None:
    (found,) = resolve(f"the fair is {text}", AT)

    assert found.date.isoformat() == f"2026-{day}"
    assert not found.recurring
