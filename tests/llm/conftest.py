"""A loopback endpoint and a model that asks it, quick to lose patience."""

from __future__ import annotations

import contextlib

import pytest
from pydantic import BaseModel

from dualgate.adapters.llm import EndpointModel, form_of
from dualgate.domain.types import Role
from dualgate.pipeline.endpoints import ModelSettings
from dualgate.pipeline.ports import ModelTask, Said
from dualgate.testing import LlmServer

ASKED = (
    Said(Role.SYSTEM, "Say what the user cannot eat."),
    Said(Role.USER, "I am allergic to peanuts, 花生过敏。"),
)
ANSWER = {"allergy": "peanuts", "sure": 0.9}


class Allergy(BaseModel):
    allergy: str
    sure: float


FORM = form_of(Allergy, "allergy")


@pytest.fixture
def server():
    with LlmServer(lambda _: ANSWER) as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request):
    return request.param


@pytest.fixture
async def model_of():
    """Open models on a server; closed at the end."""
    async with contextlib.AsyncExitStack() as closing:

        def opened(server, **settings):
            settings = {
                "name": "toy", "timeout_seconds": 0.5, "deadline_seconds": 5.0,
                "retry_seconds": 0.01, **settings,
            }  # fmt: skip
            model = EndpointModel(ModelSettings(base_url=server.url, **settings), count=len)
            closing.push_async_callback(model.close)
            return model

        yield opened


async def ask(model, **options):
    return await model.complete(ASKED, FORM, task=ModelTask.EXTRACT, **options)
