"""Write docs/reference/rest.md from the server's own description of its routes.

python docs/draw_rest.py          writes the page
python docs/draw_rest.py --check  fails if the page is not current
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

from dualgate import Memory, Settings
from dualgate.config import ServerSettings
from dualgate.entrypoints.http import create_app

PAGE = Path(__file__).parent / "reference" / "rest.md"

HEAD = """# REST

Made by `docs/draw_rest.py` from the server's OpenAPI document (`/openapi.json`); do not edit it
by hand. How to start the server, make keys and put it behind a proxy: [run the
server](../howto/run-the-server.md).

The routes under `/v1` are the verbs of [Memory](python-api.md), one each, with the same names,
arguments and outcomes. Bodies and answers are JSON; times are ISO 8601 with an offset.

**Who calls.** `Authorization: Bearer dg_…` or `X-API-Key: dg_…`. A key belongs to one tenant;
user ids are the tenant's own, and two tenants may use the same ones. Scopes: `read`, `write`
(includes read), `admin` (includes both). Routes for the operator need an admin key of the local
tenant.

**Errors** are `application/problem+json` with `type`, `title`, `status`, `detail` and, for a
wrong argument, `errors`: a list of `{"argument": "messages[0].role", "rule": "…"}`. A field that
does not exist is an error, too. 401: no valid key. 403: the key may not do this, or another site
calls. 404: no such thing for this user. 409: not in this state, or a frozen item needs `confirm`.
413: the body is too long. 421: the server does not go by this name. 422: an argument breaks a
rule. 429: come back after `Retry-After` seconds. 503: the store does not answer.

**Lists** take `limit` and `cursor`, and answer with the `cursor` of the next page, `null` at the
end.

**Idempotency.** A changing request may carry `Idempotency-Key` (any text up to 255 characters).
Sent again with the same key it is not done again: the answer shows how things stand now, with the
header `Idempotency-Replayed: true`. The same key with another request is an error. Kept is that
it was done, no word of it.

**Waiting.** With `"wait": true` the answer has the decisions (status 200). If they take longer
than the server waits (setting `server.wait_seconds`), it is 202, and `GET /v1/jobs/{job_id}`
tells later.

```sh
curl -s http://127.0.0.1:7734/v1/observe \\
  -H "Authorization: Bearer $DUALGATE_KEY" -H 'Content-Type: application/json' \\
  -d '{"user_id": "ann", "session_id": "chat-1", "wait": true,
       "messages": [{"role": "user", "content": "I am allergic to peanuts."}]}'
```
"""

TITLES = {
    "writing": "Handing in",
    "reading": "Reading back",
    "curation": "The person's verbs",
    "privacy": "Privacy and audit",
    "operating": "Operating",
    "health": "Health",
}
SCOPES = {"_reading": "read", "_writing": "write", "_governing": "admin", "_operating": "operator"}
COMMON = {"Idempotency-Key", "idempotency-key"}


def page() -> str:
    """Return the page."""
    document, scopes = asyncio.run(_described())
    parts = [HEAD]
    for tag, title in TITLES.items():
        parts.append(f"## {title}\n")
        for path, methods in document["paths"].items():
            for method, route in methods.items():
                if tag in route["tags"]:
                    scope = scopes.get((method.upper(), path))
                    parts.append(_section(document, method.upper(), path, route, scope))
    parts.append(_shapes(document))
    return "\n".join(parts)


async def _described() -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    settings = Settings(server=ServerSettings(panel=False))
    async with Memory.open("memory://", settings=settings) as memory:
        app = create_app(memory, settings)
        return app.openapi(), dict(_scopes())


def _scopes() -> Any:
    from dualgate.entrypoints.http.routes import curation, operating, privacy, reading, writing

    for module in (writing, reading, curation, privacy, operating):
        for route in module.router.routes:
            for each in route.dependant.dependencies:
                if (name := each.call.__name__) in SCOPES:
                    for method in route.methods:
                        yield (method, f"/v1{route.path}"), SCOPES[name]


def _section(
    document: dict[str, Any], method: str, path: str, route: dict[str, Any], scope: str | None
) -> str:
    told = re.sub(r"(?<!\n)\n(?!\n)", " ", route.get("description", "")).strip()
    needs = f" Scope: {scope}." if scope else ""
    lines = [f"### `{method} {path}`\n", f"{told}{needs}\n"]
    rows = [*_parameters(document, route), *_fields(document, route)]
    if rows:
        lines += ["| argument | in | kind | meaning |", "|---|---|---|---|", *rows, ""]
    lines.append(f"Answers {_answers(route)}.\n")
    return "\n".join(lines)


def _parameters(document: dict[str, Any], route: dict[str, Any]) -> list[str]:
    rows = []
    for each in route.get("parameters", []):
        if each["name"] not in COMMON:
            meaning = each.get("description") or each["schema"].get("description", "")
            kind = _kind(document, each["schema"], required=each.get("required", False))
            rows.append(_row(each["name"], each["in"], kind, meaning))
    return rows


def _fields(document: dict[str, Any], route: dict[str, Any]) -> list[str]:
    content = route.get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return [_row("the file", "body", media, "") for media in content]
    name = content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
    return _of_schema(document, name, "")


def _of_schema(document: dict[str, Any], name: str, prefix: str) -> list[str]:
    schema = document["components"]["schemas"][name]
    rows = []
    for field, described in schema["properties"].items():
        kind = _kind(document, described, required=field in schema.get("required", []))
        rows.append(_row(prefix + field, "body", kind, described.get("description", "")))
        inner = described.get("items", {}).get("$ref", "").rsplit("/", 1)[-1]
        if "properties" in document["components"]["schemas"].get(inner, {}):
            rows += _of_schema(document, inner, f"{prefix}{field}[].")
    return rows


def _shapes(document: dict[str, Any]) -> str:
    lines = ["## Shapes of answers\n"]
    for name, schema in sorted(document["components"]["schemas"].items()):
        if not name.endswith("Out"):
            continue
        told = schema.get("description", "").split("\n")[0]
        fields = ", ".join(
            f"`{field}` ({_shape(document, described)})"
            for field, described in schema["properties"].items()
        )
        lines += [f"**`{name}`** {told} {fields}.\n"]
    return "\n".join(lines)


def _shape(document: dict[str, Any], schema: dict[str, Any]) -> str:
    """Return the kind of an answer's field; another shape by its name."""
    inner = schema.get("items", schema)
    named = inner.get("$ref", "").rsplit("/", 1)[-1]
    if "properties" in document["components"]["schemas"].get(named, {}):
        return f"list of `{named}`" if "items" in schema else f"`{named}`"
    return _type(document, schema)


def _row(name: str, place: str, kind: str, meaning: str) -> str:
    return f"| `{name}` | {place} | {kind} | {meaning.strip() or '·'} |".replace("| · |", "| |")


def _kind(document: dict[str, Any], schema: dict[str, Any], *, required: bool) -> str:
    said = _type(document, schema)
    if required:
        return f"{said}, required"
    default = schema.get("default")
    return said if default in (None, [], "") else f"{said}, {str(default).lower()} by default"


def _type(document: dict[str, Any], schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        named = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        return " / ".join(map(str, named["enum"])) if "enum" in named else "object"
    if "anyOf" in schema:
        options = [each for each in schema["anyOf"] if each.get("type") != "null"]
        return _type(document, options[0])
    if schema.get("type") == "array":
        return f"list of {_type(document, schema['items'])}"
    if schema.get("format") == "date-time":
        return "time"
    found = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    kind = str(schema.get("type", "anything"))
    words = {"minimum": "from", "maximum": "to", "maxLength": "up to"}
    bounds = [f"{said} {schema[name]}" for name, said in words.items() if name in schema]
    if "maxLength" in schema:
        bounds.append("characters")
    return " ".join([found.get(kind, kind), *bounds])


def _answers(route: dict[str, Any]) -> str:
    said = []
    for code, answer in route["responses"].items():
        if code == "default":
            continue
        content = answer.get("content", {})
        schema = next(iter(content.values()), {}).get("schema", {})
        name = schema.get("$ref", "").rsplit("/", 1)[-1]
        media = next(iter(content), "")
        said.append(f"{code}: {f'`{name}`' if name else media or 'nothing'}")
    return "; ".join(said)


if __name__ == "__main__":
    current = page()
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != current)
    PAGE.write_text(current, encoding="utf-8")
