"""Where user ids get their tenant, and lose it again: the only such place [P4].

A tenant's users are stored under "tenant:NAME/USER". The local tenant "" is who works on this
machine without a key: its users are stored as they are, so that the command line and an embedded
Memory on the same file know them by the same names. An id that would pass for another tenant's is
refused there.
"""

from __future__ import annotations

from dualgate.errors import InvalidInputError
from dualgate.pipeline.intake import require_id
from dualgate.pipeline.serving import require_tenant

LOCAL = ""
MARK = "tenant:"


def stored_id(tenant: str, user_id: object) -> str:
    """Return the id under which a tenant's user is stored.

    >>> stored_id("acme", "ann"), stored_id("", "ann")
    ('tenant:acme/ann', 'ann')
    """
    user = require_id("user_id", user_id)
    if tenant != LOCAL:
        return require_id("user_id", f"{MARK}{require_tenant(tenant)}/{user}")
    if user.startswith(MARK):
        raise InvalidInputError("user_id", f"must not begin with {MARK!r}", user)
    return user


def shown_id(tenant: str, stored: str) -> str | None:
    """Return the id by which the tenant knows a stored user; None if it is another tenant's.

    >>> shown_id("acme", "tenant:acme/ann"), shown_id("acme", "tenant:acmes/ann")
    ('ann', None)
    """
    if tenant == LOCAL:
        return None if stored.startswith(MARK) else stored
    prefix = f"{MARK}{tenant}/"
    return stored.removeprefix(prefix) if stored.startswith(prefix) else None


def first_after(tenant: str, user_id: str | None) -> str | None:
    """Return the stored id after which a listing of this tenant's users goes on."""
    if user_id is not None:
        return stored_id(tenant, user_id)
    return None if tenant == LOCAL else f"{MARK}{tenant}/"
