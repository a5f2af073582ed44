"""What an endpoint's refusal means, as providers word them."""

from __future__ import annotations

import pytest

from dualgate.adapters.llm.faults import fault_of, retry_after
from dualgate.errors import ModelRefusedError, ModelRejectedError, ModelUnavailableError
from dualgate.pipeline.endpoints import Secret


def fault(status, body, **headers):
    return fault_of(status, headers, body, key=Secret("sk-mine-123456"), key_name="THE_KEY")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, '{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}',
         ModelUnavailableError),
        (429, '{"error": {"message": "see billing", "code": "insufficient_quota"}}',
         ModelRejectedError),
        (402, '{"error": {"message": "Insufficient Balance"}}', ModelRejectedError),
        (529, '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
         ModelUnavailableError),
        (502, "<html><h1>Bad Gateway</h1></html>", ModelUnavailableError),
        (501, "{}", ModelRejectedError),
        (400, '{"error": {"code": "content_filter", "message": "blocked"}}', ModelRefusedError),
        (400, '{"code": "DataInspectionFailed", "message": "inappropriate"}', ModelRefusedError),
        (400, '{"error": {"code": "1301", "message": "不安全"}}', ModelRefusedError),
        (400, '{"error": {"message": "model names are case-sensitive"}}', ModelRejectedError),
        (401, '{"error": "invalid key"}', ModelRejectedError),
        (422, '{"detail": "bad schema"}', ModelRejectedError),
        (400, '[{"error": {"message": "as Google answers"}}]', ModelRejectedError),
        (500, "[" * 100_000, ModelUnavailableError),
    ],
)  # fmt: skip
def test_a_refusal_is_of_the_kind_it_means(status, body, kind):
    assert type(fault(status, body)) is kind


def test_what_an_endpoint_says_is_told_short_on_one_line_and_without_keys():
    told = str(fault(400, '{"error": {"message": "bad sk-mine-123456\\nand sk-other-9876543 '
                          + "x" * 1_000 + '"}}'))  # fmt: skip

    assert "mine" not in told
    assert "other" not in told
    assert "\n" not in told
    assert len(told) < 400


def test_a_web_page_is_not_quoted():
    assert "<html>" not in str(fault(404, "<html>nginx</html>"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT",
          "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 09:00:00 GMT",
          "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT"}, None),
        ({"retry-after": "yesterday", "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, None),
    ],
)  # fmt: skip
def test_the_wait_an_endpoint_asks_for(headers, seconds):
    assert retry_after(headers) == seconds
