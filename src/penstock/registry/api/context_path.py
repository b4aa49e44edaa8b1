"""Paths below a context: `/contexts/.staging/subjects/orders` means `/subjects/:.staging:orders`, as Confluent's do."""

from urllib.parse import parse_qsl, unquote, urlencode

from starlette.types import Scope

from penstock.registry.names import in_context, normalize_context
from penstock.web.errors import HttpError

_PREFIX = b"/contexts/"
_SCOPED = ("config", "mode")


def routed_path(scope: Scope) -> str:
    """The path to route by; where the context belongs into the query, it is put there."""
    raw: bytes = scope["raw_path"]
    if not raw.startswith(_PREFIX):
        return raw.decode("latin-1")
    context, *parts = [part for part in raw[len(_PREFIX) :].decode("latin-1").split("/") if part] or [""]
    if not parts:
        return raw.decode("latin-1")
    try:
        qualifier = normalize_context(unquote(context))
    except ValueError as error:
        raise HttpError(400, 400, str(error)) from None
    _qualify_query(scope, qualifier, parts)
    return "/" + "/".join(_qualified(parts, qualifier))


def _qualified(parts: list[str], qualifier: str) -> list[str]:
    """The parts with the context before the subject: what follows `subjects`, and what follows `/config` or `/mode`."""
    if parts[0] in _SCOPED and len(parts) == 1:
        return [*parts, qualifier] if qualifier else parts
    return [
        _in_context(part, qualifier)
        if number > 0 and (parts[number - 1] == "subjects" or (number == 1 and parts[0] in _SCOPED))
        else part
        for number, part in enumerate(parts)
    ]


def _in_context(part: str, qualifier: str) -> str:
    return part if unquote(part).startswith((":.", ":*:")) else qualifier + part


def _qualify_query(scope: Scope, qualifier: str, parts: list[str]) -> None:
    name = "subject" if parts[:2] == ["schemas", "ids"] else "subjectPrefix"
    if name == "subjectPrefix" and parts not in (["schemas"], ["subjects"]):
        return
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    given = next((value for key, value in query if key == name), "")
    kept = [(key, value) for key, value in query if key != name]
    qualified = given if given.startswith(":*:") else in_context(qualifier, given)
    scope["query_string"] = urlencode([*kept, (name, qualified)]).encode()
