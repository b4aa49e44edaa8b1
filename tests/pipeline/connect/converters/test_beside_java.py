"""Every converter beside Kafka's own: the same bytes from values, the same values from bytes, the same errors."""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.pipeline.connect.oracle.agreement import same
from tests.pipeline.connect.oracle.oracle import Java, converted, written
from tests.pipeline.connect.oracle.random_records import Records
from tests.support.slices import cases, sweep
from tools.suite.processes import starts_processes

pytestmark = sweep

PACKAGE = "org.apache.kafka.connect"
JSON = f"{PACKAGE}.json.JsonConverter"
PLAIN = {
    f"{PACKAGE}.storage.StringConverter": (
        {},
        {"converter.encoding": "UTF-16"},
        {"converter.encoding": "US-ASCII"},
    ),
    **{
        f"{PACKAGE}.converters.{name}Converter": ({},)
        for name in ("ByteArray", "Boolean", "Short", "Integer", "Long", "Float", "Double")
    },
}
JSON_SETTINGS = (
    {},
    {"schemas.enable": "false"},
    {"decimal.format": "numeric"},
    {"replace.null.with.default": "false"},
    {"schemas.enable": "false", "replace.null.with.default": "false", "decimal.format": "NUMERIC"},
)
DATA = (
    *(None, b"", b"\0", b"\1", b"\2", b"text", "ä€".encode(), b"\xff\xfe", b"\0\1", b"\0\0\0\7"),
    *(struct.pack(">d", 0.1), struct.pack(">f", 0.1), struct.pack(">q", -5), bytes(9)),
)
SETS = cases(400)


@pytest.fixture(scope="module")
@starts_processes
def java() -> Iterator[Java]:
    oracle = Java()
    yield oracle
    oracle.close()


def encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def both_refuse(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Texts are the same up to where Java goes on in the cause of the error."""
    if "error" not in ours or "error" not in theirs:
        return False
    return theirs["kind"] != "DataException" or ours["error"].startswith(theirs["error"])


@pytest.mark.parametrize("java_name", PLAIN)
def test_plain_values(java: Java, java_name: str) -> None:
    records = Records(seed=3)
    for configs in PLAIN[java_name]:
        for data in DATA:
            theirs = java.ask(op="to_connect", configs=configs, data=encoded(data), **{"class": java_name})
            ours = converted(java_name, configs, data)
            assert same(ours, theirs) or both_refuse(ours, theirs), (configs, data, ours, theirs)
        for _ in range(SETS):
            envelope = records.envelope(1)
            theirs = java.ask(op="from_connect", configs=configs, value=envelope, **{"class": java_name})
            ours = written(java_name, configs, envelope)
            if (
                envelope is not None
                and envelope["schema"] is None
                and "Failed to serialize to" in str(theirs)
            ):
                continue  # Python's numbers do not say how long they are: those that fit are written
            if b"[B@" in base64.b64decode(theirs.get("data") or "").replace(b"\0", b""):
                continue  # where in its memory Java has the bytes
            assert same(ours, theirs) or both_refuse(ours, theirs), (configs, envelope, ours, theirs)


@pytest.mark.parametrize("configs", JSON_SETTINGS, ids=str)
def test_json_is_written_alike(java: Java, configs: dict[str, str]) -> None:
    records = Records(seed=5)
    for _ in range(SETS):
        envelope = records.envelope()
        theirs = java.ask(op="from_connect", configs=configs, value=envelope, **{"class": JSON})
        ours = written(JSON, configs, envelope)
        assert same(parsed(ours), parsed(theirs)) or both_refuse(ours, theirs), (envelope, ours, theirs)


def parsed(answer: dict[str, Any]) -> Any:
    data = answer.get("data")
    return None if data is None else json.loads(base64.b64decode(data), parse_float=Decimal)


ODD = (
    0,
    7,
    -300,
    2**40,
    2**70,
    1.5,
    -2.75,
    True,
    False,
    None,
    "",
    "7",
    "AQID",
    "no base 64!",
    [],
    [1],
    {},
    {"a": 1},
)


def spoiled(source: random.Random, value: Any, chance: float = 0.1) -> Any:
    """A value with something of another type in it here and there."""
    if source.random() < chance:
        return source.choice(ODD)
    if isinstance(value, dict):
        return {name: spoiled(source, inner) for name, inner in value.items() if source.random() < 0.95}
    return [spoiled(source, inner) for inner in value] if isinstance(value, list) else value


def spoiled_schema(source: random.Random, schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    new = {
        name: [spoiled_schema(source, each) for each in inner]
        if isinstance(inner, list)
        else spoiled_schema(source, inner)
        for name, inner in schema.items()
        if source.random() < 0.97
    }
    if source.random() < 0.05:
        new[
            source.choice(("type", "fields", "optional", "version", "name", "items", "parameters", "field"))
        ] = source.choice((*ODD, "int32", "what", {"p": 5}))
    return new


@pytest.mark.parametrize("configs", JSON_SETTINGS, ids=str)
def test_json_is_read_alike(java: Java, configs: dict[str, str]) -> None:
    records = Records(seed=6)
    source = records.random
    read = 0
    for number in range(2 * SETS):
        envelope = records.envelope()
        if envelope is None:
            continue
        if number % 2:
            envelope = {**envelope, "payload": spoiled(source, envelope["payload"])}
        if number % 5 == 0:
            envelope = {**envelope, "schema": spoiled_schema(source, envelope["schema"])}
        given = envelope if configs.get("schemas.enable") != "false" else envelope["payload"]
        data = json.dumps(given).encode()
        theirs = java.ask(op="to_connect", configs=configs, data=encoded(data), **{"class": JSON})
        ours = converted(JSON, configs, data)
        assert agree(ours, theirs), (data, ours, theirs)
        read += "error" not in theirs
    assert read > SETS / 2


OUR_WORDS = ("Invalid Java object for schema", "Invalid default value", "Invalid value: null used")


def agree(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whole numbers without a schema keep all of their digits here; Java has the last 64 bits."""
    if str(2**70) in str(ours):
        return True
    if "error" in theirs and "error" in ours and any(words in theirs["error"] for words in OUR_WORDS):
        return True
    return same(ours, theirs) or both_refuse(ours, theirs)


RAW = (
    *(
        b"",
        b" ",
        b"null",
        b"007",
        b"-00.5",
        b'{"a":01}',
        b"1 2",
        b"{} x",
        b"nope",
        b"NaN",
        b"[Infinity]",
        b"{",
        b'"\xff"',
    ),
    *(
        b'{"a":1,"a":2}',
        b"1e400",
        b"1E5",
        b"12345678901234567.25",
        b'"\\u00e4"',
        '{"ä":"€"}'.encode("utf-16-le"),
    ),
    *(
        b'{"schema":null}',
        b'{"schema":null,"payload":1,"more":2}',
        b'{"payload":1,"schema":null}',
        b"[]",
        b"5",
    ),
    *(b'{"schema":{},"payload":1}', b'{"schema":{"type":"struct"},"payload":1}', b'{"schema":5,"payload":1}'),
    *(b'{"schema":{"type":"array"},"payload":[]}', b'{"schema":{"type":"map"},"payload":{}}'),
    *(
        b'{"schema":{"type":"int8","optional":"true"},"payload":null}',
        b'{"schema":{"type":"what"},"payload":1}',
    ),
)


@pytest.mark.parametrize("enabled", ["true", "false"])
@pytest.mark.parametrize("data", RAW)
def test_odd_json_is_read_alike(java: Java, data: bytes, enabled: str) -> None:
    configs = {"schemas.enable": enabled}
    theirs = java.ask(op="to_connect", configs=configs, data=encoded(data), **{"class": JSON})
    ours = converted(JSON, configs, data)
    assert same(ours, theirs) or both_refuse(ours, theirs)


def test_one_schema_for_all(java: Java) -> None:
    schema = '{"type":"struct","fields":[{"type":"string","optional":true,"field":"a"}]}'
    configs = {"schema.content": schema}
    for data in (b'{"a":"x"}', b'{"schema":null,"payload":1}', b"5", b"null"):
        theirs = java.ask(op="to_connect", configs=configs, data=encoded(data), **{"class": JSON})
        ours = converted(JSON, configs, data)
        assert same(ours, theirs) or both_refuse(ours, theirs), (data, ours, theirs)
