"""What is erased is gone from everywhere, stays gone, and nobody else notices [P1-P4]."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from dualgate import Candidate, Memory, Message, Settings
from dualgate.adapters.sql.text import marked_words
from dualgate.errors import InvalidInputError, JobFailedError, NotFoundError
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
USER = "ann"


def about(item_type, content, quote, **fields):
    return Candidate(item_type, content, confidence=0.95, quote=quote, **fields)


DOG = about("fact", "The user's dog is called Quillfeather", "my dog is Quillfeather",
            attribute="dog_name", value="Quillfeather")  # fmt: skip
HOME = about("identity", "The user lives in Zwettl", "I live in Zwettl",
             attribute="home", value="Zwettl")  # fmt: skip
MOVED = about("identity", "The user lives in Bregenz", "I moved to Bregenz",
              attribute="home", value="Bregenz", correction=True)  # fmt: skip
VAGUE = Candidate("fact", "Quillfeather may like tea", confidence=0.3, quote="maybe likes tea")
CAT = about("fact", "用户的猫叫霜月花", "我的猫叫霜月花", attribute="cat_name", value="霜月花")
NUT = about("constraint", "The user is allergic to cashews", "I am allergic to cashews",
            sensitivity="sensitive")  # fmt: skip
SCRIPT = {
    "Well, my dog is Quillfeather.": [DOG],
    "I live in Zwettl, and my dog is Quillfeather.": [HOME, DOG],
    "From now on: I moved to Bregenz.": [MOVED],
    "Quillfeather maybe likes tea": [VAGUE],
    "我的猫叫霜月花。": [CAT],
    "I am allergic to cashews.": [NUT],
    "I live in Zwettl, still.": [HOME],
}
TALK = (
    ("user", "Well, my dog is Quillfeather."),
    ("assistant", "Quillfeather is a fine name!"),
    ("user", "And what about the weather?"),
)


class House:
    """A memory on a url, with a scripted extractor and a clock that stands."""

    def __init__(self, url):
        self.url = url
        self.path = Path(url.removeprefix("sqlite:///"))
        self.clock = ManualClock(START)
        self.extractor = ScriptedExtractor(SCRIPT)
        self.number = 0

    async def open(self, **settings):
        given = {"flush_seconds": 0, **settings}
        self.memory = await Memory.open(
            self.url, settings=Settings(**given), clock=self.clock, embedder=HashEmbedder(),
            extractor=self.extractor,
        )  # fmt: skip
        return self.memory

    async def says(self, *lines, session="s1", user=USER, dated=False, ids=True, **options):
        said = []
        for role, text in lines:
            self.number += 1
            at = self.clock.now() if dated else None
            said.append(Message(role, text, at=at, id=f"m{self.number}" if ids else None))
        options = {"wait": True, **options}
        return await self.memory.observe(user, session, said, **options)

    async def user_says(self, text, **options):
        return await self.says(("user", text), **options)

    async def contents(self, user=USER, **options):
        return [item.content for item in (await self.memory.items(user, **options)).items]

    async def the(self, word, user=USER):
        found = [i for i in (await self.memory.items(user)).items if word in i.content]
        return found[0]

    async def turns(self, user=USER):
        dossier = await self.memory._parts.store.dossier(user)  # noqa: SLF001  # what is kept
        return [kept.turn.content for kept in dossier.turns]

    def bytes(self):
        """Return what any program that reads the files could see."""
        return b"".join(p.read_bytes() for p in self.path.parent.glob(f"{self.path.name}*"))

    def holds(self, word):
        data = self.bytes()
        spellings = {word, word.lower(), word.upper()}
        return any(
            spelling.encode(code) in data
            for spelling in spellings for code in ("utf-8", "utf-16-le", "ascii")
            if code != "ascii" or spelling.isascii()
        )  # fmt: skip

    def indexed(self, word, user=USER):
        """Return whether a full-text index still lists the word's hash, deleted or not."""
        with contextlib.closing(sqlite3.connect(self.path)) as raw:
            # The terms as the segments have them: what is deleted stays until they are merged.
            for table in ("memory_words", "turn_words"):
                made = f"CREATE VIRTUAL TABLE temp.v_{table} USING fts5vocab(main, {table}, row)"
                raw.execute(made)
            listed = {
                *raw.execute("SELECT term FROM temp.v_memory_words"),
                *raw.execute("SELECT term FROM temp.v_turn_words"),
            }
        marked = marked_words(user, [word])[0]
        return (marked,) in listed or marked.encode() in self.bytes()


@pytest_asyncio.fixture(params=["memory://", "sqlite"])
async def house(request, tmp_path):
    found = House("memory://" if request.param == "memory://" else f"sqlite:///{tmp_path}/m.db")
    await found.open()
    yield found
    await found.memory.close()


@pytest_asyncio.fixture
async def filed(tmp_path):
    found = House(f"sqlite:///{tmp_path}/m.db")
    await found.open(queue=QueuePolicy(max_attempts=1))
    yield found
    await found.memory.close()


# --- an item -------------------------------------------------------------------------------------


async def test_an_erased_item_is_gone_from_every_place_it_could_be_seen(house):
    await house.says(*TALK)
    dog = await house.the("Quillfeather")
    await house.memory.context(USER, "s9", "hello")

    report = await house.memory.erase(USER, dog.id)

    assert await house.contents(status=None) == []
    with pytest.raises(NotFoundError):
        await house.memory.item(USER, dog.id)
    assert await house.memory.why(USER, text="Quillfeather") == []
    found = await house.memory.recall(USER, "Quillfeather", transcripts=True)
    assert found.hits == ()
    assert not [passage for passage in found.passages if "Quillfeather" in str(passage)]
    assert "Quillfeather" not in (await house.memory.context(USER, "s9", "hello")).text
    early = await house.memory.recall(USER, "Quillfeather", as_of=house.clock.now())
    assert early.hits == ()
    assert await house.turns() == ["And what about the weather?"]
    assert report.kind == "item"
    assert report.removed["items"] == 1
    assert report.removed["turns"] == 2
    assert report.bytes_gone


async def test_no_byte_of_it_is_left_in_the_file_or_its_log(filed):
    await filed.says(*TALK)
    await filed.user_says("我的猫叫霜月花。", session="s2")
    await filed.user_says("Quillfeather maybe likes tea", session="s3")
    notes = await filed.memory.working(USER, "s1", "t")
    await notes.set("pet", "Quillfeather barks")
    assert filed.holds("Quillfeather")
    assert filed.indexed("quillfeather")

    await filed.memory.erase(USER, (await filed.the("Quillfeather")).id)
    await filed.memory.erase(USER, (await filed.the("霜月花")).id)

    assert not filed.holds("Quillfeather")
    assert not filed.holds("霜月花")
    assert not filed.indexed("quillfeather")
    assert not filed.indexed("霜月")
    assert await notes.all() == {}


async def test_no_byte_is_left_after_a_thousand_rows_were_shifted_about(filed):
    for number in range(12):
        sizes = [n * 7 % 400 for n in range(60)]
        fill = [("user", f"Talk about thing {number}-{n}. {'x' * n}") for n in sizes]
        await filed.says(*fill, session=f"fill{number}")
        await filed.says(*TALK, session=f"t{number}")
    dog = await filed.the("Quillfeather")

    await filed.memory.erase(USER, dog.id)

    assert not filed.holds("Quillfeather")
    assert len(await filed.turns()) == 12 * 61


async def test_versions_go_with_the_item(house):
    await house.user_says("I live in Zwettl, still.")
    item = await house.the("Zwettl")
    await house.memory.correct(USER, item.id, "The user lives in Gmünd")

    report = await house.memory.erase(USER, item.id)

    assert report.removed["items"] == 2
    assert await house.contents(status="superseded") == []


async def test_another_fact_of_the_same_turn_stays_and_loses_no_more_than_the_words(house):
    await house.user_says("I live in Zwettl, and my dog is Quillfeather.")
    dog, home = await house.the("Quillfeather"), await house.the("Zwettl")

    await house.memory.erase(USER, dog.id)

    kept = await house.memory.history(USER, home.id)
    assert [signal.quote for signal in kept.signals] == ["I live in Zwettl"]
    assert await house.turns() == []


async def test_the_log_tells_that_something_was_erased_and_not_what(house):
    await house.says(*TALK)
    dog = await house.the("Quillfeather")
    await house.memory.erase(USER, dog.id)

    moves = await house.memory._parts.store.moves(USER, dog.id)  # noqa: SLF001
    assert (moves[-1].cause, moves[-1].actor) == ("erased", "user")
    assert "Quillfeather" not in str(moves)


async def test_a_core_that_was_handed_out_is_said_without_the_erased_line(house):
    await house.user_says("I live in Zwettl, still.")
    await house.says(*TALK, session="s2")
    home, dog = await house.the("Zwettl"), await house.the("Quillfeather")
    for item in (home, dog):
        await house.memory.pin(USER, item.id)
    before = await house.memory.context(USER, "s9")

    await house.memory.erase(USER, dog.id)

    after = await house.memory.context(USER, "s9")
    assert "Quillfeather" in before.text
    assert "Quillfeather" not in after.text
    assert "Zwettl" in after.text


async def test_a_frozen_item_is_erased_without_being_asked_again(house):
    for session in ("a", "b", "c"):
        await house.user_says("I live in Zwettl, still.", session=session)
    item = await house.the("Zwettl")
    assert item.status == "frozen"

    await house.memory.erase(USER, item.id)

    assert await house.contents() == []


async def test_other_items_that_say_the_same_words_are_named_not_taken(house):
    await house.says(*TALK)
    host = Candidate("event", "Quillfeather won a prize", confidence=0.95)
    await house.memory.propose(USER, "s5", [host], wait=True)
    dog = await house.the("dog")
    prize = [i for i in (await house.memory.items(USER)).items if "prize" in i.content]

    report = await house.memory.erase(USER, dog.id)

    assert report.mentioned_in == tuple(item.id for item in prize)


# --- it stays gone -------------------------------------------------------------------------------


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("ids", [True, False])
async def test_reading_the_old_transcript_again_does_not_bring_it_back(house, dated, ids):
    said = [
        Message(role, text, at=START if dated else None, id=f"old{n}" if ids else None)
        for n, (role, text) in enumerate(TALK)
    ]
    await house.memory.observe(USER, "s1", said, wait=True)
    await house.memory.erase(USER, (await house.the("Quillfeather")).id)
    house.clock.advance(days=1)

    again = await house.memory.observe(USER, "s1", said, wait=True)
    other = await house.memory.observe(USER, "a copy", said, wait=True)

    assert await house.contents() == []
    assert not [turn for turn in await house.turns() if "Quillfeather" in turn]
    assert (again.erased, other.erased) == (2, 2)


async def test_the_old_transcript_leaves_no_byte_behind_either(filed):
    await filed.says(*TALK, dated=True)
    await filed.memory.erase(USER, (await filed.the("Quillfeather")).id)
    filed.clock.advance(days=1)

    await filed.says(*TALK)

    assert not filed.holds("Quillfeather")


async def test_old_text_in_other_words_is_refused_by_what_it_states(house):
    await house.says(*TALK)
    house.clock.advance(days=1)
    await house.memory.erase(USER, (await house.the("Quillfeather")).id)
    old = Message("user", "I live in Zwettl, and my dog is Quillfeather.", at=START, id="other")
    house.clock.advance(days=1)

    receipt = await house.memory.observe(USER, "s4", [old], wait=True)

    told = {d.reason: d.candidate.content for d in receipt.decisions}
    assert told["erased"] == "[erased]"
    assert await house.contents() == ["The user lives in Zwettl"]
    assert "Quillfeather" not in " ".join(await house.turns())


async def test_what_the_user_says_anew_is_remembered_again(house):
    await house.says(*TALK)
    await house.memory.erase(USER, (await house.the("Quillfeather")).id)
    house.clock.advance(days=40)

    await house.user_says("I live in Zwettl, and my dog is Quillfeather.", session="new")

    assert "The user's dog is called Quillfeather" in await house.contents()


async def test_a_host_cannot_bring_it_back_in_a_session_that_began_before(house):
    await house.memory.propose(USER, "s1", [DOG], wait=True)
    await house.memory.erase(USER, (await house.the("Quillfeather")).id)
    house.clock.advance(days=1)

    receipt = await house.memory.propose(USER, "s1", [DOG], wait=True)

    assert [d.reason for d in receipt.decisions] == ["erased"]
    assert await house.contents() == []


# --- the queue -----------------------------------------------------------------------------------


async def test_what_waits_in_the_queue_is_erased_there(tmp_path):
    house = House(f"sqlite:///{tmp_path}/m.db")
    await house.open()
    await house.says(*TALK)
    dog = await house.the("Quillfeather")
    await house.memory.close()
    await house.open(run_worker=False)
    mixed = (("user", "Quillfeather sleeps"), ("user", "I live in Zwettl, still."))
    await house.says(*mixed, session="s2", wait=False)
    await house.user_says("Quillfeather is here", session="s3", wait=False)

    report = await house.memory.erase(USER, dog.id)
    seen = house.holds("Quillfeather")
    await house.memory.drain()

    assert not seen
    assert (report.removed["jobs"], report.changed["jobs"]) == (1, 1)
    assert await house.contents() == ["The user lives in Zwettl"]
    await house.memory.close()


async def test_a_dead_letter_gives_up_its_words_and_its_error(filed):
    await filed.says(*TALK)
    filed.extractor = None

    class Failing:
        async def extract(self, turn):
            raise ValueError(f"cannot read {turn.message.content!r}")

    await filed.memory.close()
    filed.extractor = Failing()
    await filed.open(queue=QueuePolicy(max_attempts=1))
    for text in ("Quillfeather ran away", "A word about Zwettl"):
        with pytest.raises(JobFailedError):
            await filed.user_says(text, session="s2")
    assert filed.holds("ran away")

    await filed.memory.erase(USER, (await filed.the("Quillfeather")).id)

    dead = await filed.memory._parts.queue.dead(USER)  # noqa: SLF001
    assert [d.job.payload["messages"][0]["content"] for d in dead] == ["A word about Zwettl"]
    assert not filed.holds("Quillfeather")
    assert not filed.holds("ran away")


# --- a session -----------------------------------------------------------------------------------


async def test_an_erased_session_takes_what_rests_on_it_alone(house):
    await house.says(*TALK, session="s1")
    await house.user_says("I live in Zwettl, still.", session="s1")
    await house.user_says("I live in Zwettl, still.", session="s2")
    await house.user_says("我的猫叫霜月花。", session="s2")
    notes = await house.memory.working(USER, "s1", "t")
    await notes.set("k", "v")
    home = await house.the("Zwettl")

    report = await house.memory.erase(USER, session_id="s1")

    assert sorted(await house.contents()) == ["The user lives in Zwettl", "用户的猫叫霜月花"]
    assert report.kept_items == (home.id,)
    kept = await house.memory.item(USER, home.id)
    assert kept.confirm_count == home.confirm_count - 1
    assert kept.support < home.support
    assert [s.session_id for s in (await house.memory.history(USER, home.id)).signals] == ["s2"]
    assert await house.turns() == ["I live in Zwettl, still.", "我的猫叫霜月花。"]
    assert await notes.all() == {}
    assert "Quillfeather" not in str(await house.memory.why(USER))


async def test_no_byte_of_an_erased_session_is_left_and_it_cannot_be_read_again(filed):
    await filed.says(*TALK, session="s1")
    await filed.memory.erase(USER, session_id="s1")
    seen = filed.holds("Quillfeather") or filed.holds("weather?")
    filed.clock.advance(days=1)
    await filed.says(*TALK, session="s1")

    assert not seen
    assert await filed.contents() == []


async def test_a_forgotten_and_a_superseded_item_can_be_erased(house):
    await house.user_says("I live in Zwettl, still.")
    await house.user_says("From now on: I moved to Bregenz.", session="s2")
    await house.says(*TALK, session="s3")
    dog = await house.the("Quillfeather")
    await house.memory.forget(USER, dog.id)

    await house.memory.erase(USER, dog.id)
    old = (await house.memory.items(USER, status="superseded")).items[0]
    await house.memory.erase(USER, old.id)

    assert await house.contents(status=["confirmed", "candidate", "superseded", "forgotten"]) == []


# --- a user --------------------------------------------------------------------------------------


async def test_an_erased_user_leaves_nothing_and_nobody_else_notices(filed):
    for user in (USER, "bob"):
        await filed.says(*TALK, user=user)
    before = await filed.memory._parts.store.dossier("bob")  # noqa: SLF001

    report = await filed.memory.erase_user("bob")

    assert await filed.contents("bob") == []
    assert (await filed.memory.stats("bob")).turns == 0
    assert report.removed.items() >= {"items": 1, "turns": 3}.items()
    await filed.memory.erase_user(USER)
    assert not filed.holds("Quillfeather")
    assert before.turns


async def test_one_users_words_stay_when_another_erases_the_same_ones(house):
    for user in (USER, "bob"):
        await house.says(*TALK, user=user)

    await house.memory.erase_user("bob")

    assert await house.contents(USER) == ["The user's dog is called Quillfeather"]
    assert len(await house.turns(USER)) == 3


async def test_an_erased_user_who_comes_back_begins_anew(house):
    await house.says(*TALK)
    await house.memory.erase_user(USER)
    house.clock.advance(days=1)

    await house.says(*TALK)  # the old transcript, once more
    assert await house.contents() == []
    await house.user_says("From now on: I moved to Bregenz.", session="new")

    assert await house.contents() == ["The user lives in Bregenz"]


async def test_erasing_what_is_not_there_or_not_mine_is_an_error(house):
    await house.says(*TALK)
    dog = await house.the("Quillfeather")

    with pytest.raises(NotFoundError):
        await house.memory.erase("bob", dog.id)
    with pytest.raises(NotFoundError):
        await house.memory.erase(USER, session_id="nowhere")
    with pytest.raises(InvalidInputError, match="one of both"):
        await house.memory.erase(USER)
    with pytest.raises(InvalidInputError, match="user_id"):
        await house.memory.erase_user(" ")
    assert await house.contents() == ["The user's dog is called Quillfeather"]


async def test_an_erasure_left_undone_is_finished_at_the_next_start(tmp_path):
    house = House(f"sqlite:///{tmp_path}/m.db")
    await house.open(scrub_limit_mb=0)
    await house.says(*TALK)
    report = await house.memory.erase(USER, (await house.the("Quillfeather")).id)
    waiting = await house.memory._parts.store.asked_erasures()  # noqa: SLF001
    await house.memory.close()
    await house.open()

    assert not report.bytes_gone
    assert [one.id for one in waiting] == [report.id]
    assert await house.memory._parts.store.asked_erasures() == []  # noqa: SLF001
    assert not house.holds("Quillfeather")
    await house.memory.close()


async def test_scrub_rewrites_a_file_of_any_size(tmp_path):
    house = House(f"sqlite:///{tmp_path}/m.db")
    await house.open(scrub_limit_mb=0)
    await house.says(*TALK)
    await house.memory.erase(USER, (await house.the("Quillfeather")).id)

    assert await house.memory.scrub()
    assert not house.holds("Quillfeather")
    await house.memory.close()


# --- private, paused, sensitive, secret ----------------------------------------------------------


async def test_a_private_turn_leaves_no_byte(filed):
    await filed.user_says("Well, my dog is Quillfeather.", private=True)
    await filed.memory.context(USER, "hidden-session", "Quillfeather", private=True)
    await filed.memory.recall(USER, "Quillfeather", transcripts=True, private=True)

    assert not filed.holds("Quillfeather")
    assert not filed.holds("hidden-session")
    assert await filed.memory.users() == []


async def test_private_reading_counts_no_use(house):
    await house.says(*TALK)
    dog = await house.the("Quillfeather")

    await house.memory.recall(USER, "Quillfeather", private=True)
    await house.memory.context(USER, "s2", "Quillfeather", private=True)
    await house.memory.propose(USER, "s2", [HOME], private=True)

    assert (await house.memory.history(USER, dog.id)).recalls == ()
    assert await house.contents() == ["The user's dog is called Quillfeather"]


async def test_a_pause_is_of_one_user_and_ends_with_resume(house):
    await house.memory.pause(USER)
    await house.says(*TALK)
    await house.says(*TALK, user="bob")
    while_paused = await house.contents(), await house.contents("bob"), await house.turns()
    await house.memory.resume(USER)
    await house.says(*TALK)

    assert while_paused == ([], ["The user's dog is called Quillfeather"], [])
    assert await house.contents() == ["The user's dog is called Quillfeather"]


async def test_a_sensitive_item_is_quiet_expires_and_leaves_no_byte(filed):
    await filed.user_says("I am allergic to cashews.")
    quiet = await filed.memory.recall(USER, "allergic to cashews")
    asked = await filed.memory.recall(USER, "allergic to cashews", sensitive=True)
    filed.clock.advance(days=31)
    await filed.memory.maintain(USER)
    expired = await filed.contents()
    filed.clock.advance(days=31)
    await filed.memory.maintain(USER)
    await filed.memory.scrub()

    assert (quiet.hits, len(asked.hits), expired) == ((), 1, [])
    assert not filed.holds("cashews")


async def test_a_sensitive_item_that_the_user_keeps_does_not_expire(house):
    await house.user_says("I am allergic to cashews.")
    await house.memory.like(USER, (await house.the("cashews")).id)
    house.clock.advance(days=31)
    await house.memory.maintain(USER)

    assert await house.contents() == ["The user is allergic to cashews"]


async def test_a_secret_is_in_no_byte_of_the_file_even_while_it_waits(tmp_path):
    house = House(f"sqlite:///{tmp_path}/m.db")
    await house.open(run_worker=False)
    await house.user_says("my password is Tr0ub4dor&3xyz, do not tell", wait=False)

    assert not house.holds("Tr0ub4dor")
    assert house.holds("[secret: password]")
    await house.memory.close()
