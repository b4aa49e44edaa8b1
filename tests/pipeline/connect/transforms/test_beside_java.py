"""Every transform beside Kafka's own: random records and settings, the same results and the same errors."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.pipeline.connect.transforms import JAVA_NAMES
from tests.pipeline.connect.oracle.agreement import same
from tests.pipeline.connect.oracle.oracle import Java, transformed
from tests.pipeline.connect.oracle.random_records import SETTINGS, Records, draw_settings
from tests.support.slices import cases, sweep
from tools.suite.processes import starts_processes

pytestmark = sweep

RECORDS = cases(125)
TOLD_OTHERWISE = (
    r"Invalid value: null used for required",
    r"Invalid Java object for schema",
    r"Invalid regex: ",
    r"No value specified for static field: ",
    r"String must be one of \(case insensitive\): ",
    r"Converting byte\[\] to Kafka Connect data failed",
    r"Invalid default value",
    r"fieldName cannot be null",
    r"Timestamp missing on record: ",
)
"""Errors whose text, from there on, is our own."""
OTHER_KINDS = (
    "NullPointerException",
    "ClassCastException",
    "IndexOutOfBoundsException",
    "IllegalArgumentException",
)
"""Java's own errors, where Kafka does not look: ours say what is wrong."""


@pytest.fixture(scope="module")
@starts_processes
def java() -> Iterator[Java]:
    oracle = Java()
    yield oracle
    oracle.close()


def test_all_transforms_are_tried() -> None:
    assert set(SETTINGS) == set(JAVA_NAMES)


def is_meant(java_name: str, ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Kafka refuses to name the schema of anything but a struct; ours names it. Ours has years 1 to 9999 only."""
    if "is out of range: years 1 to 9999" in ours.get("error", ""):
        return True
    return "SetSchemaMetadata" in java_name and theirs.get("error") == "Cannot list fields on non-struct type"


def agree(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    if "error" not in theirs or "error" not in ours:
        return same(ours, theirs)
    if theirs["kind"] in OTHER_KINDS or theirs["stage"] == "tell":
        return True
    if found := re.match(r"Invalid value java\.lang\.\w+: .*? for configuration (.*)", theirs["error"]):
        return found[1] in ours["error"]
    for words in TOLD_OTHERWISE:
        if found := re.search(words, theirs["error"]):
            return theirs["error"][: found.start()] in ours["error"] or found.start() == 0
    return ours["error"] == theirs["error"]


@pytest.mark.parametrize("java_name", SETTINGS)
def test_the_same_becomes_of_records(java: Java, java_name: str) -> None:
    records = Records(seed=7)
    source = random.Random(java_name)
    changed = 0
    for _ in range(RECORDS):
        record, configs = records.draw(), draw_settings(source, java_name)
        theirs = java.ask(op="transform", configs=configs, record=record, **{"class": java_name})
        ours = transformed(java_name, configs, record)
        if is_meant(java_name, ours, theirs):
            continue
        assert agree(ours, theirs), f"{configs}\n{record}\nours   {ours}\ntheirs {theirs}"
        changed += "error" not in theirs
    assert changed, "every one was refused"
