"""The store contract, on every backend."""

from __future__ import annotations

import pytest

from dualgate.testing.accounts_contract import AccountsContract
from dualgate.testing.archive_contract import ArchiveContract
from dualgate.testing.erasure_contract import ErasureContract
from dualgate.testing.history_contract import HistoryContract
from dualgate.testing.search_contract import SearchContract
from dualgate.testing.serving_contract import ServingContract
from dualgate.testing.store_contract import StoreContract
from dualgate.testing.transcript_contract import TranscriptContract

pytestmark = pytest.mark.asyncio


class TestStore(StoreContract):
    pass


class TestArchive(ArchiveContract):
    pass


class TestSearch(SearchContract):
    pass


class TestHistory(HistoryContract):
    pass


class TestTranscript(TranscriptContract):
    pass


class TestAccounts(AccountsContract):
    pass


class TestServing(ServingContract):
    pass


class TestErasure(ErasureContract):
    pass
