"""Values in text, and projections, beside Kafka's own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.errors import PenstockError
from penstock.pipeline.connect.converters.json_reading import JsonReading
from penstock.pipeline.connect.converters.json_schemas import schema_of
from penstock.pipeline.connect.data.java_text import java_text
from penstock.pipeline.connect.data.projector import project
from penstock.pipeline.connect.data.values import parse, to_text
from tests.pipeline.connect.oracle.agreement import same
from tests.pipeline.connect.oracle.oracle import Java, envelope_of, value_of
from tests.pipeline.connect.oracle.random_records import Records
from tests.support.slices import cases, sweep
from tools.suite.processes import starts_processes

pytestmark = sweep

TOKENS = (
    *(
        "1",
        "127",
        "128",
        "-5",
        "+3",
        "70000",
        "9999999999",
        "9223372036854775808",
        "1.5",
        "1e3",
        "1e20",
        "1e400",
    ),
    *(
        ".5",
        "0.0",
        "true",
        "false",
        "null",
        "True",
        "text",
        "a b",
        " ",
        "",
        '"q"',
        '"2020-02-29"',
        "\\",
        "\\,",
    ),
    *(
        "2020-02-29",
        "2020-13-40",
        "23:31:30.123Z",
        "2009-02-13T23:31:30.123Z",
        "2009-02-13T23\\:31\\:30.123Z",
    ),
    *("-", "+", "0x10", "NaN", "ä", '"', "12:30", "1_000", "1d"),
)
SETS = cases(350)


@pytest.fixture(scope="module")
@starts_processes
def java() -> Iterator[Java]:
    oracle = Java()
    yield oracle
    oracle.close()


def draw(source: random.Random, depth: int = 2) -> str:
    kind = source.random()
    if depth and kind < 0.35:
        return f"[{','.join(draw(source, depth - 1) for _ in range(source.randint(0, 3)))}]"
    if depth and kind < 0.6:
        entries = (f"{draw(source, 0)}:{draw(source, depth - 1)}" for _ in range(source.randint(0, 3)))
        return f"{{{','.join(entries)}}}"
    text = source.choice(TOKENS)
    return text if kind < 0.93 else text + source.choice((",", "]", "}", "[", " ", ":"))


@pytest.mark.parametrize("seed", range(4))
def test_texts_are_read_alike(java: Java, seed: int) -> None:
    source = random.Random(seed)
    for text in [*TOKENS, *(draw(source) for _ in range(SETS))]:
        theirs = java.ask(op="parse", text=text)
        parsed = parse(text)
        if "error" not in theirs:  # that it cannot be told, with dates and other things in one list
            ours = envelope_of(*parsed)
            assert same(ours, theirs["parsed"]), (text, ours, theirs)


def letters(text: str | None) -> list[str] | None:
    """Java's maps have an order of their own."""
    return None if text is None else sorted(text)


@pytest.mark.parametrize("seed", range(3))
def test_values_are_written_alike(java: Java, seed: int) -> None:
    records = Records(seed)
    for _ in range(SETS):
        envelope = records.envelope()
        theirs = java.ask(op="text", value=envelope)
        schema, value = value_of(envelope)
        assert letters(theirs["text"]) == letters(to_text(value, schema)), (envelope, theirs)
        if "[B@" not in theirs["to_string"]:
            assert letters(theirs["to_string"]) == letters(java_text(value, schema)), (envelope, theirs)


def changed(records: Records, schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that is like another but for something."""
    source = records.random
    wider = {"int8": "int32", "int16": "int64", "int32": "int64", "int64": "float", "float": "double"}
    new = dict(schema)
    if source.random() < 0.2:
        new["optional"] = not new["optional"]
    if "name" not in new and new["type"] in wider and source.random() < 0.5:
        new["type"] = wider[new["type"]]
        new.pop("default", None)
    if source.random() < 0.05:
        new["name"] = "other.Name"
    if new["type"] == "struct":
        fields = [changed(records, field) for field in new["fields"] if source.random() < 0.8]
        extra = {**records.schema(1), "field": "extra"}
        new["fields"] = [*fields, extra] if source.random() < 0.3 else fields
    if new["type"] == "array":
        new["items"] = changed(records, new["items"])
    return new


@pytest.mark.parametrize("seed", range(3))
def test_values_are_projected_alike(java: Java, seed: int) -> None:
    records = Records(seed)
    projected = 0
    for _ in range(SETS):
        envelope = records.envelope()
        if envelope is None or envelope["schema"] is None:
            continue
        target = changed(records, envelope["schema"])
        theirs = java.ask(op="project", source=envelope, target=target)
        if (
            "error" in theirs
            and "Exception" in theirs["kind"]
            and theirs["kind"] != "SchemaProjectorException"
        ):
            continue
        try:
            source, value = value_of(envelope)
            made = schema_of(target, JsonReading(uses_defaults=False))
            assert source is not None
            assert made is not None
            ours: dict[str, Any] = {"value": envelope_of(made, project(source, value, made))}
        except PenstockError as error:
            ours = {"error": str(error), "kind": "SchemaProjectorException"}
        assert same(ours, theirs), (envelope, target, ours, theirs)
        projected += "error" not in ours
    assert projected > SETS / 10
