"""Delta tables, written for ticks over a real broker, as Spark's executors run them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipeline.connect.connectors.lake.delta import ids, table
from tests.pipeline.connect.connectors.test_ticks import orders, sunk
from tests.pipeline.connect.tasks.works import Place, new_name
from tests.support.cluster_fixture import KafkaServer

TASK = "lake.sink:LakeSinkTask"


@pytest.fixture
def place(kafka: KafkaServer) -> Place:
    return Place(kafka)


def configs(folder: Path, **more: str) -> dict[str, str]:
    return {"store.path": str(folder), "format.class": "delta", "rotate.interval.ms": "0", **more}


def test_a_lost_report_repeats_nothing_in_the_table(place: Place, tmp_path: Path) -> None:
    place.produce(*orders(0, 50))
    first = sunk(place, TASK, configs(tmp_path))
    assert (first.state, first.trace, first.positions) == ("RUNNING", None, {(place.topic, 0): 50})
    place.produce(*orders(50, 80))
    again = sunk(place, TASK, configs(tmp_path))  # the first one's positions were never committed
    assert (again.state, again.positions) == ("RUNNING", {(place.topic, 0): 80})
    assert ids(tmp_path, place.topic) == list(range(80))
    assert (
        table(tmp_path, place.topic).transaction_version(f"penstock/{place.connector}/{place.topic}-0") == 80
    )


def test_what_does_not_fit_the_table_goes_to_the_dead_letters(place: Place, tmp_path: Path) -> None:
    queue = new_name("dead")
    tolerant = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    place.produce(*orders(0, 3))
    sunk(place, TASK, configs(tmp_path, **tolerant))
    place.produce(json.dumps({"id": "four"}), json.dumps({"id": 5}))
    report = sunk(place, TASK, configs(tmp_path, **tolerant), run_ms=1500)
    assert (report.state, report.error_message, report.dead_lettered) == ("RUNNING", None, 1)
    assert ids(tmp_path, place.topic) == [0, 1, 2, 5]
    assert place.values(queue) == ['{"id": "four"}']
