"""Avro's own Java library beside ours: the same schemas are sound, printed alike, and compatible or not for the same
reasons at the same places."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.registry.formats import avro
from penstock.registry.formats.schema_format import InvalidSchema
from tests.registry.formats.avro.random_schemas import Schemas
from tests.support.slices import cases, sweep
from tests.support.toolchains import java_program
from tools.suite.processes import starts_processes

pytestmark = sweep

SEEDS = 4
SCHEMAS_PER_SEED = cases(300)
NOT_TOLD_ALIKE = ("matches multiple fields", "Schema fields not set yet")
"""Java gives up on a field whose aliases match several others, and on a default of a record inside itself."""


class Oracle:
    def __init__(self) -> None:
        command = java_program("avro", Path(__file__).parent / "java", "AvroOracle")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, *texts: str, writer: str | None = None) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"texts": texts, "writer": writer}) + "\n")
        self._process.stdin.flush()
        said: dict[str, Any] = json.loads(self._process.stdout.readline())
        return said

    def close(self) -> None:
        self._process.communicate(timeout=30)


@pytest.fixture(scope="module")
@starts_processes
def java() -> Iterator[Oracle]:
    oracle = Oracle()
    yield oracle
    oracle.close()


def parsed(text: str, references: dict[str, str] | None = None) -> avro.AvroSchema | None:
    try:
        return avro.parse(text, references or {})
    except InvalidSchema:
        return None


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_schemas(java: Oracle, seed: int) -> None:
    schemas = Schemas(seed)
    compared = refused = incompatible = 0
    for number in range(SCHEMAS_PER_SEED):
        schema = schemas.draw(1 + number % 4)
        text, later_text = json.dumps(schema), json.dumps(schemas.changed(schema))
        ours, theirs = parsed(text), java.ask(text)
        if any(words in theirs.get("error", "") for words in NOT_TOLD_ALIKE):
            continue
        assert (ours is None) == ("error" in theirs), (text, theirs)
        if ours is None:
            refused += 1
            continue
        assert ours.canonical() == theirs["canonical"], text
        writer = parsed(later_text)
        if writer is None:
            continue
        theirs = java.ask(text, writer=later_text)
        reasons = [[each.kind, each.path, each.info] for each in ours.incompatibilities_with(writer)]
        assert reasons == theirs.get("reasons"), (text, later_text, theirs)
        compared += 1
        incompatible += bool(reasons)
    assert compared > SCHEMAS_PER_SEED // 2
    assert refused
    assert incompatible


def test_references_are_printed_by_name(java: Oracle) -> None:
    address = '{"type": "record", "name": "Address", "namespace": "shop", "fields": []}'
    fields = [{"name": "at", "type": "Address"}]
    customer = json.dumps({"type": "record", "name": "Customer", "namespace": "shop", "fields": fields})
    ours = avro.parse(customer, {"shop.Address": address})
    assert ours.canonical() == java.ask(address, customer)["canonical"]
    assert '"type":"Address"' in ours.canonical()
    assert '"name":"Address"' in ours.formatted("resolved")
