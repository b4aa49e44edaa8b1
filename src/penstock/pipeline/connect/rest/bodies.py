"""Bodies of requests. Values of a configuration are text; numbers and booleans are taken as they are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from penstock.pipeline.connect.worker.errors import BadRequestError
from penstock.pipeline.connect.worker.interface import ConnectorOffset, TargetState
from penstock.web.errors import BodyRefused, HttpError
from penstock.web.request import Request

Configs = dict[str, str | None]

INITIAL_STATES: Final[Mapping[str, TargetState]] = {
    "RUNNING": "STARTED",
    "PAUSED": "PAUSED",
    "STOPPED": "STOPPED",
}
_KINDS: Final = {dict: "an object", list: "an array"}


async def object_of(request: Request) -> dict[str, Any]:
    """Numbers stay as they were written."""
    await _checked_object(request)
    body: dict[str, Any] = json.loads(await request.body(), parse_int=str, parse_float=str)
    return body


async def _checked_object(request: Request) -> dict[str, Any]:
    try:
        return await request.json_object()
    except BodyRefused:
        raise
    except HttpError as error:
        raise BadRequestError(error.message) from None


async def configs_of(request: Request) -> Configs:
    return as_configs(await object_of(request), "Request body")


def as_configs(value: Any, where: str) -> Configs:
    if not isinstance(value, dict):
        raise BadRequestError(f"{where}: takes an object of configurations")
    return {name: _as_text(text, name) for name, text in value.items()}


def _as_text(value: Any, name: str) -> str | None:
    if isinstance(value, dict | list):
        raise BadRequestError(f"{name}: got {_KINDS[type(value)]}, takes text")
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


class NewConnector:
    """The body of POST /connectors."""

    FIELDS: Final = ("name", "config", "initial_state")

    def __init__(self, body: dict[str, Any]) -> None:
        _refuse_strangers(body, self.FIELDS)
        self.name = (_as_text(body.get("name"), "name") or "").strip()
        self.configs = as_configs(body.get("config"), "config")
        self.initial_state = _initial_state(_as_text(body.get("initial_state"), "initial_state"))


def _initial_state(text: str | None) -> TargetState | None:
    if text is None:
        return None
    if text.upper() not in INITIAL_STATES:
        raise BadRequestError(f"initial_state: got {text!r}, takes {', '.join(INITIAL_STATES)}")
    return INITIAL_STATES[text.upper()]


def _refuse_strangers(body: dict[str, Any], fields: tuple[str, ...]) -> None:
    for name in body:
        if name not in fields:
            raise BadRequestError(f"Unrecognized field {name!r}; takes {', '.join(fields)}")


def with_name(name: str, configs: Configs) -> dict[str, str]:
    """The name stands in the configuration too, and is the same."""
    given = configs.get("name")
    if given is not None and given != name:
        raise BadRequestError(
            f"Connector name configuration ({given}) doesn't match connector name in the URL ({name})"
        )
    return cast("dict[str, str]", {**configs, "name": name})


async def offsets_of(request: Request) -> list[ConnectorOffset]:
    body = await _checked_object(request)
    _refuse_strangers(body, ("offsets",))
    offsets = body.get("offsets")
    if not offsets:
        raise BadRequestError("Partitions / offsets need to be provided for an alter offsets request")
    if not isinstance(offsets, list):
        raise BadRequestError("offsets: takes an array")
    return [_offset(each) for each in offsets]


def _offset(value: Any) -> ConnectorOffset:
    if not isinstance(value, dict):
        raise BadRequestError("offsets: takes objects with partition and offset")
    _refuse_strangers(value, ("partition", "offset"))
    partition, offset = value.get("partition"), value.get("offset")
    if not isinstance(partition, dict) or not isinstance(offset, dict | None):
        raise BadRequestError("offsets: partition takes an object, offset an object or null")
    return {"partition": partition, "offset": offset}
