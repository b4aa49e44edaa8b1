"""What a consumer instance is made with: the fields of `POST /consumers/{group}`, over the proxy's own settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.client.config import ConsumerConfig
from penstock.errors import ConfigError
from penstock.rest.errors import bad_field, shown
from penstock.rest.fields import ANYTHING, Field, V2Fields
from penstock.rest.settings import MAX_FETCH_MIN_BYTES, RestSettings
from penstock.rest.v2.consumers.errors import config_out_of_range, invalid_config
from penstock.rest.v2.consumers.formats import FORMATS, RecordFormat
from penstock.web.errors import HttpError

MIN_BYTES, REQUEST_TIMEOUT = "fetch.min.bytes", "consumer.request.timeout.ms"
NEW_INSTANCE = V2Fields(
    "NewConsumerInstance",
    {
        "id": Field(str, description="The old name of `name`."),
        "name": Field(str, description="Part of the instance's address; made up unless given."),
        "format": Field(str, description=f"One of {', '.join(FORMATS)}; binary unless given."),
        "auto.offset.reset": Field(str, description="earliest, latest or none."),
        "auto.commit.enable": Field(
            ANYTHING, description="Whether what was read is committed when more is read."
        ),
        MIN_BYTES: Field(ANYTHING, description="How many bytes a request for records waits for; -1: any."),
        REQUEST_TIMEOUT: Field(ANYTHING, description="How long a request for records waits."),
    },
)
_KAFKA_NAMES = {"auto.offset.reset": "auto.offset.reset", "auto.commit.enable": "enable.auto.commit"}


@dataclass(frozen=True, slots=True)
class InstanceConfig:
    """`name` is None if the proxy is to make one up."""

    name: str | None
    format: RecordFormat
    min_bytes: int
    request_timeout_ms: int
    kafka: ConsumerConfig


def read_config(settings: RestSettings, group: str, given: dict[str, Any]) -> InstanceConfig:
    timeout_ms = _integer(given, REQUEST_TIMEOUT, settings.consumer_request_timeout_ms)
    if timeout_ms < 0:
        raise invalid_config(f"{REQUEST_TIMEOUT}: got {timeout_ms}, takes 0 or more")
    return InstanceConfig(
        _name(given),
        _format(given.get("format", "binary")),
        _min_bytes(_integer(given, MIN_BYTES, settings.fetch_min_bytes)),
        min(timeout_ms, settings.consumer_request_max_timeout_ms),
        _kafka_config(settings, group, given),
    )


def _name(given: dict[str, Any]) -> str | None:
    for field in ("id", "name"):
        if field in given:
            name: str = given[field]
            if not name or name in (".", ".."):
                raise bad_field(field, name, "a name that can be part of an address")
            return name
    return None


def _format(name: str) -> RecordFormat:
    found = FORMATS.get(name.lower())
    if found is None:
        raise HttpError(
            422, 422, f"Invalid format type. format: got {name!r}, takes one of {', '.join(FORMATS)}"
        )
    return found


def _min_bytes(given: int) -> int:
    if not -1 <= given <= MAX_FETCH_MIN_BYTES:
        raise config_out_of_range(f"{MIN_BYTES}: got {given}, takes -1 to {MAX_FETCH_MIN_BYTES}")
    return given


def _integer(given: dict[str, Any], name: str, default: int) -> int:
    """As a number, or as Confluent's proxy also takes it, in a string."""
    value = given.get(name, default)
    try:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError
        return int(value)
    except ValueError:
        raise invalid_config(f"{name}: got {shown(value)}, takes an integer") from None


def _kafka_config(settings: RestSettings, group: str, given: dict[str, Any]) -> ConsumerConfig:
    configs: dict[str, object] = {
        name: text
        for name, text in settings.client_configs("consumer.").items()
        if name in ConsumerConfig.TABLE
    }
    configs["group.id"] = group
    for field, name in _KAFKA_NAMES.items():
        if field in given:
            configs[name] = _checked(field, name, given[field])
    try:
        return ConsumerConfig(configs)
    except ConfigError as error:
        raise invalid_config(str(error)) from error


def _checked(field: str, name: str, value: object) -> object:
    """Refuses it in the request's own words."""
    try:
        return ConsumerConfig.TABLE.find(name).read(value)
    except ConfigError as error:
        raise invalid_config(str(error).replace(name, field, 1)) from error
