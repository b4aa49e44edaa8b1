"""The keys of the sink and the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import (
    ConfigDef,
    ConfigType,
    Importance,
    at_least,
    invalid,
    not_empty,
    one_of,
)
from penstock.pipeline.connect.connectors.http.json_pointer import is_pointer
from penstock.pipeline.connect.connectors.http.status_codes import are_codes
from penstock.pipeline.connect.connectors.http.templates import parse_headers, require_known

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
RECORD_NAMES = ("topic", "partition", "offset", "key")
OFFSET_NAMES = ("offset",)

INCREMENTING, CHAINING, CURSOR = "SIMPLE_INCREMENTING", "CHAINING", "CURSOR_PAGINATION"


def _is_url(name: str, value: Any) -> None:
    try:
        parts = urlsplit(value or "")
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_right = is_right and value.isascii() and value.isprintable() and " " not in value
    except ValueError:
        is_right = False
    if not is_right or "${" in parts.netloc:
        raise invalid(name, value, "takes a URL that begins with http:// or https:// and a host")
    if "@" in parts.netloc:
        raise invalid(name, parts.hostname, "takes no password in the URL; auth.type=basic has keys for it")


CONNECTION_KEYS: Final = (
    ConfigDef()
    .define(
        "auth.type",
        ConfigType.STRING,
        "none",
        importance=HIGH,
        validator=one_of("none", "basic", "bearer", ignore_case=True),
        doc="How to prove who asks.",
    )
    .define("connection.user", ConfigType.STRING, "", importance=MEDIUM, doc="The user of auth.type=basic.")
    .define("connection.password", ConfigType.PASSWORD, None, importance=MEDIUM, doc="Its password.")
    .define(
        "bearer.token", ConfigType.PASSWORD, None, importance=MEDIUM, doc="The token of auth.type=bearer."
    )
    .define(
        "https.ssl.truststore.location",
        ConfigType.STRING,
        "",
        importance=MEDIUM,
        doc="A PEM file with the certificates to trust; empty for those of the system.",
    )
    .define(
        "http.request.timeout.ms",
        ConfigType.INT,
        30_000,
        importance=LOW,
        validator=at_least(1),
        doc="How long to wait for a connection, and for an answer.",
    )
    .define(
        "retry.on.status.codes",
        ConfigType.LIST,
        "408,429,500-",
        importance=MEDIUM,
        validator=are_codes,
        doc="Answers after which a request is sent again: codes and ranges. Others last.",
    )
    .define(
        "retry.backoff.ms",
        ConfigType.INT,
        3000,
        importance=MEDIUM,
        validator=at_least(0),
        doc="How long to wait before that, unless the answer says Retry-After.",
    )
)


SINK_KEYS: Final = CONNECTION_KEYS.including(
    ConfigDef()
    .define(
        "http.api.url",
        ConfigType.STRING,
        importance=HIGH,
        validator=_is_url,
        doc="Where records go. ${topic}, ${partition}, ${offset} and ${key} stand for the record's.",
    )
    .define(
        "request.method",
        ConfigType.STRING,
        "POST",
        importance=HIGH,
        validator=one_of("POST", "PUT", "PATCH", "DELETE", ignore_case=True),
        doc="The method.",
    )
    .define(
        "headers",
        ConfigType.STRING,
        "",
        importance=MEDIUM,
        doc="Headers, name:value, with the same names for a record's as in the URL.",
    )
    .define(
        "header.separator",
        ConfigType.STRING,
        "|",
        importance=LOW,
        validator=not_empty,
        doc="Between two headers.",
    )
    .define(
        "request.body.format",
        ConfigType.STRING,
        "string",
        importance=MEDIUM,
        validator=one_of("string", "json", ignore_case=True),
        doc="How values are written: as text, or as JSON.",
    )
    .define(
        "batch.max.size",
        ConfigType.INT,
        1,
        importance=HIGH,
        validator=at_least(1),
        doc="How many records go in a request, at most; they have the same URL and headers.",
    )
    .define("batch.prefix", ConfigType.STRING, "", importance=LOW, doc="What a body of texts begins with.")
    .define("batch.suffix", ConfigType.STRING, "", importance=LOW, doc="What a body of texts ends with.")
    .define(
        "batch.separator",
        ConfigType.STRING,
        ",",
        importance=LOW,
        doc="What is between two texts. In these three, \\n is a new line and \\t a tab.",
    )
    .define(
        "batch.json.as.array",
        ConfigType.BOOLEAN,
        True,
        importance=LOW,
        doc="Whether a body of JSON is an array, also of one record; false needs batch.max.size=1.",
    )
    .define(
        "max.retries",
        ConfigType.INT,
        10,
        importance=MEDIUM,
        validator=at_least(0),
        doc="How often a request is sent again within one run of a task before the task fails.",
    )
    .define(
        "behavior.on.null.values",
        ConfigType.STRING,
        "ignore",
        importance=LOW,
        validator=one_of("ignore", "delete", "fail", ignore_case=True),
        doc="What becomes of tombstones: delete sends DELETE to the record's URL.",
    )
    .define(
        "behavior.on.error",
        ConfigType.STRING,
        "fail",
        importance=LOW,
        validator=one_of("fail", "ignore", "log", ignore_case=True),
        doc="What becomes of records that the server refuses for good. fail obeys errors.tolerance.",
    )
)


SOURCE_KEYS: Final = CONNECTION_KEYS.including(
    ConfigDef()
    .define(
        "url",
        ConfigType.STRING,
        importance=HIGH,
        validator=_is_url,
        doc="What to ask. May have ${offset}.",
    )
    .define(
        "topic.name.pattern",
        ConfigType.STRING,
        importance=HIGH,
        validator=not_empty,
        doc="The topic of the records.",
    )
    .define(
        "http.request.method",
        ConfigType.STRING,
        "GET",
        importance=HIGH,
        validator=one_of("GET", "POST", ignore_case=True),
        doc="The method.",
    )
    .define("http.request.headers", ConfigType.STRING, "", importance=MEDIUM, doc="Headers, name:value.")
    .define(
        "http.request.headers.separator",
        ConfigType.STRING,
        "|",
        importance=LOW,
        validator=not_empty,
        doc="Between two headers.",
    )
    .define(
        "http.request.parameters",
        ConfigType.STRING,
        "",
        importance=MEDIUM,
        doc="Added to the URL's query: since=${offset}&size=100.",
    )
    .define(
        "http.request.body",
        ConfigType.STRING,
        "",
        importance=MEDIUM,
        doc="The body of a POST. May have ${offset}.",
    )
    .define(
        "http.offset.mode",
        ConfigType.STRING,
        INCREMENTING,
        importance=HIGH,
        validator=one_of(INCREMENTING, CHAINING, CURSOR, ignore_case=True),
        doc="What ${offset} is: a page's number, something of the last record, or what an answer says is next.",
    )
    .define("http.initial.offset", ConfigType.STRING, "", importance=HIGH, doc="The first ${offset}.")
    .define(
        "http.response.data.json.pointer",
        ConfigType.STRING,
        "",
        importance=HIGH,
        validator=is_pointer,
        doc="Where in an answer the records are: an array, or one record. Empty for all of it.",
    )
    .define(
        "http.offset.json.pointer",
        ConfigType.STRING,
        "",
        importance=HIGH,
        validator=is_pointer,
        doc="Where in a record the offset of CHAINING is: a time or a number, say.",
    )
    .define(
        "http.next.page.json.pointer",
        ConfigType.STRING,
        "",
        importance=HIGH,
        validator=is_pointer,
        doc="Where in an answer the cursor of CURSOR_PAGINATION is; null or absent on the last page.",
    )
    .define(
        "request.interval.ms",
        ConfigType.LONG,
        15_000,
        importance=HIGH,
        validator=at_least(0),
        doc="How long to wait when there was nothing new.",
    )
)


Check = Callable[[Mapping[str, Any]], None]


def _auth_is_whole(settings: Mapping[str, Any]) -> None:
    kind = settings["auth.type"].lower()
    if kind == "basic" and not settings["connection.user"]:
        raise ConfigError("connection.user: is empty; auth.type=basic needs it")
    if kind == "bearer" and not settings["bearer.token"]:
        raise ConfigError("bearer.token: is empty; auth.type=bearer needs it")


def _sink_url_is_known(settings: Mapping[str, Any]) -> None:
    require_known(settings, "http.api.url", RECORD_NAMES)


def _sink_headers_are_known(settings: Mapping[str, Any]) -> None:
    parse_headers("headers", settings["headers"], settings["header.separator"])
    require_known(settings, "headers", RECORD_NAMES)


def _array_fits_batch(settings: Mapping[str, Any]) -> None:
    if settings["request.body.format"].lower() != "json" or settings["batch.json.as.array"]:
        return
    if settings["batch.max.size"] > 1:
        raise ConfigError(
            f"batch.json.as.array: got false; batch.max.size={settings['batch.max.size']} needs an array"
        )


def _source_templates_are_known(key: str) -> Check:
    return lambda settings: require_known(settings, key, OFFSET_NAMES)


def _source_headers_are_known(settings: Mapping[str, Any]) -> None:
    key = "http.request.headers"
    parse_headers(key, settings[key], settings["http.request.headers.separator"])
    require_known(settings, key, OFFSET_NAMES)


def _offset_mode_is_whole(settings: Mapping[str, Any]) -> None:
    mode = settings["http.offset.mode"].upper()
    needed = {CHAINING: "http.offset.json.pointer", CURSOR: "http.next.page.json.pointer"}.get(mode)
    if needed and not settings[needed]:
        raise ConfigError(f"{needed}: is empty; http.offset.mode={mode} needs it")
    first = settings["http.initial.offset"]
    if mode == INCREMENTING and first and not (first.isascii() and first.isdecimal()):
        raise ConfigError(f"http.initial.offset: got {first!r}; http.offset.mode={mode} takes a number")


SINK_CHECKS: tuple[Check, ...] = (
    _auth_is_whole,
    _sink_url_is_known,
    _sink_headers_are_known,
    _array_fits_batch,
)
SOURCE_CHECKS: tuple[Check, ...] = (
    _auth_is_whole,
    *map(_source_templates_are_known, ("url", "http.request.parameters", "http.request.body")),
    _source_headers_are_known,
    _offset_mode_is_whole,
)


def errors_of(checks: tuple[Check, ...], settings: Mapping[str, Any]) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = {}
    for check in checks:
        try:
            check(settings)
        except ConfigError as error:
            errors.setdefault(str(error).partition(":")[0], []).append(str(error))
    return errors
