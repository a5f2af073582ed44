"""What was removed is gone on every face, and no face shows another's memory [P3, P4, R5].

Faults that were reported of memory layers, retold; S0xx is the report's number.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import httpx2
import pytest

from dualgate import Candidate, Memory, Message
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor

from .faces import Faces, environment, faces
from .talk import START, TRUSTING, USER, Talk, contents


def fact(content: str, quote: str | None = None, **fields: object) -> Candidate:
    return Candidate("fact", content, confidence=0.9, quote=quote, **fields)  # type: ignore[arg-type]


async def proposed(memory: Memory, session: str, candidate: Candidate, user: str = USER) -> str:
    (decision,) = (await memory.propose(user, session, [candidate], wait=True)).decisions
    return str(decision.item_id)


async def everywhere(face: Faces, query: str, user: str = USER) -> str:
    """Return all that any face shows of what may be recalled for a query."""
    found = await face.memory.recall(user, query, transcripts=False)
    block = await face.memory.context(user, "an opening", query)
    recalled = await face.post("/recall", user, query=query)
    opened = await face.post("/context", user, session_id="another opening", query=query)
    preview = await face.page("/next", user, says=query)
    told = json.dumps([recalled, opened], ensure_ascii=False)
    return f"{found.text}\n{block.text}\n{told}\n{preview}"


# --- deletion

RECALL = """
import asyncio, sys
from dualgate import Memory
from dualgate.testing import HashEmbedder

async def main():
    async with Memory.open(sys.argv[1], embedder=HashEmbedder()) as memory:
        # Read beside the loop: a loop that stands still holds what its memory is about to commit.
        while query := await asyncio.to_thread(sys.stdin.readline):
            found = await memory.recall("ming", query.strip())
            print(len(found.hits), flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("verb", ["forget", "erase"])
@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("The spare key is under the third pot", "spare key"),
        ("备用钥匙在第三个花盆下面", "备用钥匙"),
    ],
)
async def test_a_warm_cache_of_any_process_holds_no_removed_item(
    tmp_path: Path, content: str, query: str, verb: str
) -> None:
    """S136: the first recall after it, here and in a process that had recalled it before"""
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    async with Memory.open(
        url, clock=ManualClock(START), embedder=HashEmbedder(), settings=TRUSTING
    ) as memory:
        item_id = await proposed(memory, "s1", fact(content))
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", RECALL, url, env=environment(tmp_path, PYTHONUTF8="1"),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert other.stdin
        assert other.stdout

        async def there() -> int:
            other.stdin.write(f"{query}\n".encode())
            return int(await asyncio.wait_for(other.stdout.readline(), 60))

        async def here() -> int:
            return len((await memory.recall(USER, query)).hits)

        before = (await here(), await there())
        await getattr(memory, verb)(USER, item_id)
        after = (await here(), await there())
        other.stdin.close()
        await other.wait()

    assert (before, after) == ((1, 1), (0, 0))


@pytest.mark.parametrize(
    ("line", "content", "word"),
    [
        ("我以前在疗养院工作。", "用户以前在疗养院工作", "疗养院"),  # S137
        ("I used to work at a sanatorium.", "The user used to work at a sanatorium", "sanatorium"),
    ],
)
async def test_an_erased_fact_comes_back_by_no_replay_upkeep_or_old_export(
    tmp_path: Path, line: str, content: str, word: str
) -> None:
    """S137 [P3]: the tombstone stops the old transcript, upkeep and an old archive alike"""
    scripted = ScriptedExtractor({line: [fact(content, line)]})
    clock = ManualClock(START)
    old = Message("user", line, START.replace(month=1), "old-1")
    async with Memory.open(
        "memory://", clock=clock, embedder=HashEmbedder(), extractor=scripted
    ) as memory:
        talk = Talk(memory, clock)
        await memory.observe(USER, "old", [old], wait=True)
        (item,) = await talk.active(word)
        await memory.export(USER, tmp_path / "before.zip")
        clock.advance(days=1)

        await memory.erase(USER, item.id)
        await memory.observe(USER, "old", [old], wait=True)
        await memory.observe(
            USER, "a fork", [Message("user", line, old.at)], wait=True, parent_session_id="old"
        )
        await memory.maintain(USER)
        await memory.import_(USER, tmp_path / "before.zip")
        await memory.maintain(USER)

        assert contents(await talk.any(word)) == []
        assert (await memory.recall(USER, line, transcripts=True)).passages == ()


@pytest.mark.parametrize(
    ("first", "then", "date"),
    [
        ("我生日是三月九号。", "把我的生日忘掉，不要再记。", "三月九|3月9|03-09"),  # S139
        ("My birthday is on 9 March.", "Forget my birthday, and don't note it again.",
         "9 March|March 9|03-09"),
    ],
)  # fmt: skip
async def test_asking_to_forget_makes_no_new_memory_of_what_is_to_be_forgotten(
    talk: Talk, first: str, then: str, date: str
) -> None:
    """S139: the report wants the sentence to delete. The specification wins: forgetting is a verb
    of the person [F6], which a host calls; the sentence itself adds nothing that repeats the date.
    """
    await talk.says(first)
    before = await talk.active(date)
    await talk.says(then)
    after = await talk.active(date)
    for item in after:
        await talk.memory.forget(USER, item.id, confirm=True)
    await talk.memory.maintain(USER)

    assert {i.id for i in after} <= {i.id for i in before}
    assert contents(await talk.active(date)) == []
    assert await talk.recalled(first) == []


@pytest.mark.parametrize(
    ("rejected", "old", "new", "query"),
    [
        ("The user owns a yacht", ("The user's desk is blue", "blue"),
         ("The user's desk is green", "green"), "yacht desk"),  # S140
        ("用户有一艘游艇", ("用户的书桌是蓝色的", "蓝色"), ("用户的书桌是绿色的", "绿色"),
         "游艇 书桌"),
    ],
)  # fmt: skip
async def test_what_was_rejected_or_replaced_is_on_no_face_but_in_the_list(
    rejected: str, old: tuple[str, str], new: tuple[str, str], query: str
) -> None:
    """S140 [R5, C3]"""
    async with faces() as face:
        memory = face.memory
        wrong = await proposed(memory, "s1", fact(rejected))
        for n, (content, value) in enumerate((old, new)):
            await proposed(memory, f"s{n}", fact(content, attribute="desk", value=value))
        await face.post(f"/items/{wrong}/forget")
        shown = await everywhere(face, query)
        listed = await face.get("/items", status=["superseded", "forgotten"])

    assert new[0] in shown
    assert rejected not in shown
    assert old[0] not in shown
    assert {i["content"] for i in listed["items"]} == {rejected, old[0]}


@pytest.mark.parametrize(
    ("lines", "shared"),
    [
        (("My cat is called Mochi.", "My boat is called Heron.", "My street is Elm Row."), 2),
        (("我的猫叫麻薯。", "我的船叫白鹭。", "我住在榆树街。"), 1),
    ],
)
async def test_an_erased_session_takes_its_own_memories_and_leaves_the_shared_one(
    lines: tuple[str, ...], shared: int
) -> None:
    """S141 [P3]: three items of s1, one of them confirmed in s2 as well; there is no dry run, the
    report says afterwards what was removed
    """
    script = {line: [fact(f"said: {line}", line, value=line)] for line in lines}
    async with faces(extractor=ScriptedExtractor(script)) as face:
        for session, said in (("s1", lines), ("s2", [lines[shared]])):
            turns = [Message("user", line, id=f"{session}-{line}") for line in said]
            await face.memory.observe(USER, session, turns, wait=True)
        before = (await face.get("/items"))["items"]
        report = await face.post("/erase", session_id="s1")
        left = (await face.get("/items"))["items"]

    assert {i["content"]: i["confirm_count"] for i in before} == {
        f"said: {line}": 2.0 if n == shared else 1.0 for n, line in enumerate(lines)
    }
    assert [(i["content"], i["confirm_count"]) for i in left] == [(f"said: {lines[shared]}", 1.0)]
    assert report["removed"]["items"] == 2


# --- isolation


@pytest.mark.parametrize("given", [{}, {"user_id": ""}, {"user_id": "  "}, {"user_id": None}])
async def test_no_route_takes_nobody_for_everybody(given: dict[str, str | None]) -> None:
    """S128 [P4]: every route that speaks of a user's memory refuses, whatever it would do"""
    async with faces() as face:
        await proposed(face.memory, "s1", fact("The user owns a yacht"))
        reads = [
            "/items", "/items/x", "/items/x/history", "/why", "/moves", "/pending", "/stats",
            "/dead", "/findings", "/export", "/working?session_id=s&task_id=t", "/jobs/x",
        ]  # fmt: skip
        writes = {
            "/recall": {"query": "yacht"}, "/context": {"session_id": "s"},
            "/observe": {"session_id": "s", "messages": []},
            "/propose": {"session_id": "s", "candidates": []},
            "/erase": {"item_id": "x"}, "/erase_user": {}, "/maintain": {}, "/audit": {},
            "/pause": {}, "/resume": {}, "/items/x/like": {}, "/end_session": {"session_id": "s"},
        }  # fmt: skip
        asked = [{k: v for k, v in given.items() if v is not None}]
        answers = [await face.rest.get(f"/v1{path}", params=asked[0]) for path in reads]
        answers += [
            await face.rest.post(f"/v1{path}", json={**body, **given})
            for path, body in writes.items()
        ]

    assert {(a.request.url.path, a.status_code) for a in answers if a.status_code != 422} == set()
    assert all("yacht" not in a.text for a in answers)


@pytest.mark.parametrize("user", ["*", "%", "_", "ming%", "MING", "' OR 1=1 --", "../ming"])
async def test_a_wildcard_names_a_stranger_on_every_face(user: str) -> None:
    """S128 [P4]"""
    async with faces() as face:
        await proposed(face.memory, "s1", fact("The user owns a yacht"))

        assert "owns a yacht" in await everywhere(face, "yacht")
        assert "owns a yacht" not in await everywhere(face, "yacht", user)
        assert (await face.get("/items", user))["items"] == []
        assert "owns a yacht" not in await face.page("/", user)


async def test_every_face_reaches_the_same_items_of_one_user_and_no_others() -> None:
    """S132 [P4]: the report speaks of projects as scopes; dualgate's scope is the user, so a
    project that must be apart is a user of its own. List and export agree.
    """
    texts = {
        "heron": ("Heron ships on Mondays", "Heron is red", "鹭项目用绿色"),
        "osprey": ("Osprey ships on Tuesdays", "Osprey is blue", "鹗项目用蓝色"),
    }
    async with faces() as face:
        for user, lines in texts.items():
            for n, line in enumerate(lines):
                await proposed(face.memory, f"s{n}", fact(line), user)
        seen = {}
        for user in texts:
            listed = (await face.get("/items", user))["items"]
            archive = await face.rest.get("/v1/export", params={"user_id": user})
            shown = [await everywhere(face, word, user) for word in ("Heron", "Osprey", "项目")]
            shown += [await face.page("/", user), await face.page("/happened", user)]
            shown.append(json.dumps(await face.get("/why", user), ensure_ascii=False))
            seen[user] = ({i["content"] for i in listed}, archive, "\n".join(shown))
            assert all(i["user_id"] == user for i in listed)
            strangers = [i["id"] for i in listed]
            other = next(name for name in texts if name != user)
            codes = [
                (await face.rest.get(f"/v1/items/{i}", params={"user_id": other})).status_code
                for i in strangers
            ]
            assert set(codes) == {404}

    for user, (listed_texts, archive, shown_text) in seen.items():
        others = [line for name, lines in texts.items() if name != user for line in lines]
        assert listed_texts == set(texts[user])
        assert exported(archive) == listed_texts
        assert [line for line in others if line in shown_text] == []


def exported(archive: httpx2.Response) -> set[str]:
    """Return the contents of the items of an export."""
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(archive.content)) as files:
        lines = [
            json.loads(line)
            for name in files.namelist() if name.endswith("items.jsonl")
            for line in files.read(name).decode().splitlines()
        ]  # fmt: skip
    return {line["content"] for line in lines}


@pytest.mark.parametrize("key", ["none", "unknown", "revoked", "of another tenant"])
async def test_a_key_that_allows_nothing_reads_nothing(key: str) -> None:
    """S133 [P4]: no key has an empty list of scopes that could mean all; its like is refused"""
    async with faces(server={"keyless": False}) as face:
        keys = face.memory.keys
        mine = await keys.create("acme", scope="write")
        made = await keys.create("globe", scope="admin")
        async with face.client(authorization=f"Bearer {mine.secret}") as client:
            body = {"user_id": USER, "session_id": "s", "wait": True,
                    "candidates": [{"item_type": "fact", "content": "owns a yacht",
                                    "confidence": 0.9}]}  # fmt: skip
            assert (await client.post("/v1/propose", json=body)).status_code == 200
        if key == "revoked":
            await keys.revoke(made.key.id)
        given = {"none": "", "unknown": "dg_" + "x" * 43}.get(key, made.secret)
        headers = {"authorization": f"Bearer {given}"} if given else {}
        async with face.client(**headers) as client:
            answers = [
                await client.get("/v1/items", params={"user_id": USER}),
                await client.post("/v1/recall", json={"user_id": USER, "query": "yacht"}),
                await client.post("/v1/context", json={"user_id": USER, "session_id": "s"}),
                await client.get("/v1/export", params={"user_id": USER}),
                await client.get("/panel/", params={"user": USER}),
            ]
        with pytest.raises(Exception, match="scope"):
            await keys.create("acme", scope="")

    assert all("yacht" not in a.text for a in answers)
    codes = [a.status_code for a in answers]
    assert codes[:3] == ([200] * 3 if key == "of another tenant" else [401] * 3)
