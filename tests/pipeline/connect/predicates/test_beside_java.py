"""Every predicate beside Kafka's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.errors import PenstockError
from penstock.pipeline.connect.predicates import JAVA_NAMES
from tests.pipeline.connect.oracle.oracle import Java, class_of, record_of
from tests.pipeline.connect.oracle.random_records import Records
from tools.suite.processes import starts_processes

PACKAGE = "org.apache.kafka.connect.transforms.predicates"
SETTINGS: dict[str, tuple[dict[str, str], ...]] = {
    f"{PACKAGE}.HasHeaderKey": ({"name": "h"}, {"name": "other"}, {"name": ""}, {}),
    f"{PACKAGE}.RecordIsTombstone": ({},),
    f"{PACKAGE}.TopicNameMatches": (
        *({"pattern": "orders"}, {"pattern": "orders.*"}, {"pattern": "rder"}, {"pattern": ".\\..|x\\$y"}),
        *({"pattern": ""}, {"pattern": "("}, {}, {"pattern": "\\p{Alpha}+"}, {"pattern": "(?i)ORDERS"}),
    ),
}


@pytest.fixture(scope="module")
@starts_processes
def java() -> Iterator[Java]:
    oracle = Java()
    yield oracle
    oracle.close()


def test_all_predicates_are_tried() -> None:
    assert set(SETTINGS) == set(JAVA_NAMES)


def answer_of(java_name: str, configs: dict[str, str], record: dict[str, Any]) -> dict[str, Any]:
    predicate = class_of(java_name)()
    try:
        predicate.configure(configs)
    except PenstockError as error:
        return {"stage": "configure", "error": str(error)}
    return {"stage": "done", "is": predicate.test(record_of(record))}


def words(answer: dict[str, Any]) -> str:
    """Why a regular expression is none is said in our own words."""
    error: str = answer.get("error", "")
    return error.partition("Invalid regex")[0]


@pytest.mark.parametrize("java_name", SETTINGS)
def test_the_same_records_are_chosen(java: Java, java_name: str) -> None:
    records = Records(seed=1)
    chosen = set()
    for _ in range(40):
        record = records.draw()
        for configs in SETTINGS[java_name]:
            theirs = java.ask(op="predicate", configs=configs, record=record, **{"class": java_name})
            ours = answer_of(java_name, configs, record)
            assert ours["stage"] == theirs["stage"]
            assert ours.get("is") == theirs.get("is"), (configs, record)
            assert (
                ours.get("error", "").partition("Invalid regex")[0]
                == theirs.get("error", "").partition("Invalid regex")[0]
            )
            chosen.add(ours.get("is"))
    assert chosen >= {True, False}
