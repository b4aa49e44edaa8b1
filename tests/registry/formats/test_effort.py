"""Schemas that are hard to compare: the registry says so in time, and answers others meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.registry import Registry

pytestmark = pytest.mark.processes

LONGEST_WAIT_SECONDS = 0.5


class Bystander:
    longest_seconds = 0.0


@contextmanager
def bystander(registry: Registry) -> Iterator[Bystander]:
    """Somebody who asks for something small all the time."""
    waits, done = Bystander(), threading.Event()

    def ask() -> None:
        while not done.is_set():
            began = time.monotonic()
            assert registry.get("/subjects").status == 200
            waits.longest_seconds = max(waits.longest_seconds, time.monotonic() - began)
            time.sleep(0.01)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield waits
    finally:
        done.set()
        asking.join()


def union(prefix: str, count: int) -> dict[str, Any]:
    field = [{"name": "a", "type": "string"}]
    return {
        "schema": json.dumps(
            [{"type": "record", "name": f"{prefix}{n}", "fields": field} for n in range(count)]
        )
    }


def json_schema(**keywords: Any) -> dict[str, Any]:
    return {"schemaType": "JSON", "schema": json.dumps({"type": "object", **keywords})}


def test_a_union_of_2000_records_against_another(registry: Registry) -> None:
    subject = "/subjects/large-union/versions"
    assert registry.post(subject, union("A", 2000)).status == 200
    with bystander(registry) as waits:
        began = time.monotonic()
        for path in (subject, "/compatibility/subjects/large-union/versions/latest"):
            said = registry.post(path, union("B", 2000))
            assert (said.status, said.body["error_code"]) == (422, 42201)
            assert said.body["message"] == (
                "Schemas could not be compared: it takes more than 100000 comparisons of types"
            )
        assert registry.post(subject, union("A", 2001)).status == 200, "each with its namesake"
        assert time.monotonic() - began < 30
    assert waits.longest_seconds < LONGEST_WAIT_SECONDS


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(?=a)(a+)+$"])
def test_a_pattern_that_takes_exponential_time(registry: Registry, pattern: str) -> None:
    subject = f"/subjects/pattern-{len(pattern)}/versions"
    config = {"compatibility": "FULL"}
    assert registry.put(f"/config/pattern-{len(pattern)}", config).status == 200
    before = json_schema(patternProperties={pattern: {"type": "string"}}, additionalProperties=False)
    assert registry.post(subject, before).status == 200
    after = json_schema(
        patternProperties={pattern: {"type": "string"}},
        additionalProperties=False,
        properties={"a" * 40 + "!": {"type": "string"}},
    )
    with bystander(registry) as waits:
        said = registry.post(subject, after)
    assert (said.status, said.body["error_code"]) in ((409, 40901), (422, 42201))
    assert ("could take too long" in said.body["message"]) is ("?=" in pattern)
    assert waits.longest_seconds < LONGEST_WAIT_SECONDS
