"""What is wrong with a setup, in plain words: the database, the models, the endpoints.

Rule: looks and tries, changes nothing and remembers nothing. A check that fails says what to do;
the others go on.
"""

from __future__ import annotations

from dualgate.config import Settings
from dualgate.doctor.endpoint import check_embedding, check_model
from dualgate.doctor.finding import Finding, Verdict, healthy
from dualgate.doctor.local import check_database, check_machine, check_models

__all__ = ["Finding", "Verdict", "examine", "healthy"]


async def examine(settings: Settings, url: str | None = None) -> list[Finding]:
    """Try everything that these settings need; return what was found, in order.

    url: None is the settings' own, or the file in the user's data directory.
    """
    found = [*check_machine(), *await check_database(url or settings.url, settings)]
    found += await check_models()
    found += await check_model(settings)
    found += await check_embedding(settings)
    return found
