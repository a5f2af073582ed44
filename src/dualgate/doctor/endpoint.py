"""Trying endpoints for real: do they answer, how fast, in what form, and do they understand?

Rule: goes the way a message would go, through the same client, prompts and reader, but nothing is
stored and no key is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dualgate.adapters.memory import open_memory
from dualgate.adapters.system import SystemClock
from dualgate.adapters.tokens import counter_for
from dualgate.config import Settings
from dualgate.doctor.finding import Finding, Verdict
from dualgate.domain.items import Candidate, Message
from dualgate.domain.types import Role
from dualgate.errors import DualgateError, ModelError, UnreadableAnswerError
from dualgate.pipeline.endpoints import Answers, is_loopback
from dualgate.pipeline.ports import ChatAnswer, ModelTask, Said, Turn
from dualgate.pipeline.spending import BudgetPolicy, Purse

if TYPE_CHECKING:
    from dualgate.adapters.llm.chat import EndpointModel

NO_EXTRA = 'install what talks to endpoints: pip install "dualgate[llm]"'
# What must come out of a sentence, and what of small talk: nothing.
_SENTENCES = {
    "zh": ("我对花生过敏，以后别给我推荐含花生的菜。", "花生"),
    "en": ("I am allergic to peanuts, so never suggest dishes with peanuts.", "peanut"),
}
_SMALL_TALK = "谢谢，今天就到这里吧！ Thanks, that is all for today!"
_SLOW_SECONDS = 15.0
_TALKATIVE_TOKENS = 400  # for an answer of ten
_WORD = "ready"


@dataclass(frozen=True, slots=True)
class _Probe:
    word: str


async def check_model(settings: Settings) -> list[Finding]:
    """Try the model of these settings, each name it has."""
    if not settings.model.configured:
        said = "no model is configured; the local extractor reads everything"
        return [Finding(check="model", verdict=Verdict.OK, said=said)]
    try:
        from dualgate.adapters.llm.chat import EndpointModel
    except ImportError as error:
        return [_wrong("model", f"model.base_url is set, and {error.name} is missing", NO_EXTRA)]
    patient = replace(settings.model, attempts=1)
    count = counter_for(settings.model.name or "").count
    found = [*_road(settings.model.base_url or "", keyed=settings.model.key is not None)]
    for name, task in _tasks_by_name(settings).items():
        model = EndpointModel(replace(patient, names={**patient.names, ModelTask.CHECK: name}),
                              count=count)  # fmt: skip
        try:
            answered = [*await _answers(model, name, settings)]
            found += answered
            if task is ModelTask.EXTRACT and all(f.verdict is not Verdict.WRONG for f in answered):
                found += await _understands(model, settings)
        finally:
            await model.close()
    return found


async def check_embedding(settings: Settings) -> list[Finding]:
    """Try the embedding endpoint of these settings."""
    if not settings.embedding.configured:
        return []
    try:
        from dualgate.adapters.llm.embedding import EndpointEmbedder
    except ImportError as error:
        said = f"embedding.base_url is set, and {error.name} is missing"
        return [_wrong("embedding", said, NO_EXTRA)]
    found = [*_road(settings.embedding.base_url or "", keyed=settings.embedding.key is not None)]
    embedder = EndpointEmbedder(replace(settings.embedding, attempts=1))
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        vectors = await embedder.embed(
            ["我喜欢喝茶", "I like drinking tea", "The server room is on fire"]
        )
    except DualgateError as error:
        return [*found, _of("embedding", error)]
    finally:
        await embedder.close()
    seconds = round(loop.time() - began, 2)
    same, other = float(vectors[0] @ vectors[1]), float(np.max(vectors[:2] @ vectors[2]))
    numbers = {"dim": embedder.dim, "seconds": seconds, "same": round(same, 2),
               "other": round(other, 2)}  # fmt: skip
    if same <= other:
        return [*found, Finding(
            check="embedding", verdict=Verdict.WARNING, numbers=numbers,
            said=f"{settings.embedding.name} finds the same sentence in zh and en no nearer "
                 f"({same:.2f}) than another ({other:.2f})",
            advice="Choose a multilingual embedding model if your users speak both",
        )]  # fmt: skip
    said = f"{settings.embedding.name} gives vectors of {embedder.dim} numbers ({seconds:g} s)"
    return [*found, Finding(check="embedding", verdict=Verdict.OK, said=said, numbers=numbers)]


def _tasks_by_name(settings: Settings) -> dict[str, ModelTask]:
    """Return each model's name with what to try with it; the one that extracts comes first."""
    tasks = [task for task in ModelTask if task is not ModelTask.CHECK]
    names = {settings.model.name_for(ModelTask.EXTRACT): ModelTask.EXTRACT}
    for task in tasks:
        names.setdefault(settings.model.name_for(task), task)
    return names


def _road(base_url: str, *, keyed: bool) -> Iterator[Finding]:
    if keyed and base_url.startswith("http://") and not is_loopback(base_url):
        yield Finding(
            check="address", verdict=Verdict.WARNING,
            said="the key travels unencrypted: base_url begins with http://",
            advice="Use https://, unless you trust every machine on the way",
        )  # fmt: skip


async def _answers(model: EndpointModel, name: str, settings: Settings) -> list[Finding]:
    """Ask for one word in a form: connection, key, name, capability, latency, thinking."""
    from dualgate.adapters.llm.reading import parse
    from dualgate.pipeline.ports import AnswerForm

    def read(tree: object) -> _Probe:
        if not isinstance(tree, dict) or not isinstance(tree.get("word"), str):
            raise ValueError('the object must have "word", a text')  # noqa: TRY004
        return _Probe(tree["word"])

    schema = parse(
        '{"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"],'
        ' "additionalProperties": false}'
    )
    form = AnswerForm(name="probe", schema=schema if isinstance(schema, dict) else {}, read=read)
    asked = [Said(Role.USER, f'Answer as JSON: the property "word" holds the text {_WORD!r}.')]
    try:
        answer = await model.complete(asked, form, task=ModelTask.CHECK)
    except DualgateError as error:
        return [_of(f"model {name}", error)]
    declared = settings.model.answers is not Answers.AUTO
    return [*_capability(name, model.answers_of(name), answer, declared=declared)]


def _capability(
    name: str, kept: Answers | None, answer: ChatAnswer[_Probe], *, declared: bool
) -> Iterator[Finding]:
    seconds = round(answer.seconds, 2)
    numbers: dict[str, float | int | str] = {
        "seconds": seconds, "calls": answer.usage.calls, "answers": str(kept),
        "input_tokens": answer.usage.input_tokens, "output_tokens": answer.usage.output_tokens,
    }  # fmt: skip
    forms = {
        Answers.JSON_SCHEMA: "keeps to a JSON schema",
        Answers.JSON_OBJECT: "gives some JSON, the schema stands in the prompt",
        Answers.PLAIN: "takes no response format, the schema stands in the prompt",
    }
    said = f"{name} answers in {seconds:g} s and {forms.get(kept or Answers.PLAIN, '')}"
    spare = f'Set model.answers = "{kept}": it spares a first question that fails'
    yield Finding(
        check=f"model {name}", verdict=Verdict.OK, said=said, numbers=numbers,
        advice="" if declared or kept is Answers.JSON_SCHEMA else spare,
    )  # fmt: skip
    if answer.usage.output_tokens > _TALKATIVE_TOKENS and not answer.usage.estimated:
        yield Finding(
            check=f"model {name}", verdict=Verdict.WARNING,
            said=f"it thinks at length: {answer.usage.output_tokens} tokens for one word",
            advice="Turn its reasoning off with model.body, or choose a model without",
        )  # fmt: skip
    if seconds > _SLOW_SECONDS:
        yield Finding(
            check=f"model {name}", verdict=Verdict.WARNING,
            said=f"it is slow: {seconds:g} s for one word",
            advice="Turns are read in the background, so it works; raise model.timeout_seconds",
        )  # fmt: skip


async def _understands(model: EndpointModel, settings: Settings) -> list[Finding]:
    """Let it read a sentence of each language, and small talk, as it will read turns."""
    from dualgate.adapters.llm.extractor import LlmExtractor

    clock = SystemClock()
    backend = open_memory()
    purse = Purse(model, backend.store, clock, BudgetPolicy())
    extractor = LlmExtractor(purse, settings.extraction)

    async def read(text: str) -> list[Candidate]:
        now = clock.now()
        message = Message(role=Role.USER, content=text, at=now, id="doctor")
        turn = Turn(user_id="doctor", session_id="doctor", message=message, at=now)
        return list(await extractor.extract(turn))

    found = []
    try:
        for lang, (sentence, wanted) in _SENTENCES.items():
            found.append(_read(lang, wanted, await read(sentence)))
        made_up = await read(_SMALL_TALK)
    except DualgateError as error:
        return [*found, _of("extraction", error)]
    finally:
        await backend.close()
    if made_up:
        found.append(Finding(
            check="extraction", verdict=Verdict.WARNING,
            said=f"it finds memories in small talk: {made_up[0].content!r}",
            advice="The gates refuse most of it; a stronger model makes less of it",
        ))  # fmt: skip
    return found


def _read(lang: str, wanted: str, candidates: list[Candidate]) -> Finding:
    check = f"extraction {lang}"
    right = [c for c in candidates if wanted in f"{c.content} {c.value}".lower()]
    if not right:
        told = f"it read {candidates[0].content!r}" if candidates else "it read nothing"
        return _wrong(check, f"{told} in a sentence about an allergy to {wanted}",
                      "Choose a stronger model for model.names.extract")  # fmt: skip
    return Finding(check=check, verdict=Verdict.OK, said=f"it understands: {right[0].content}")


def _of(check: str, error: DualgateError) -> Finding:
    """Return what an error means, without its advice said twice."""
    if isinstance(error, UnreadableAnswerError):
        shown = " ".join(error.raw.split())[:120]
        said = f"its answers cannot be read: {error.problem}" + (f" ({shown!r})" if shown else "")
        return _wrong(check, said, error.advice or "Choose a model that can answer in JSON")
    if isinstance(error, ModelError):
        return _wrong(check, error.problem, error.advice)
    return _wrong(check, str(error), "")


def _wrong(check: str, said: str, advice: str) -> Finding:
    return Finding(check=check, verdict=Verdict.WRONG, said=said, advice=advice)
