"""`kafka-mirror-maker`, as users of the first MirrorMaker call it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import KafkaAdmin, KafkaProducer, TopicPartition
from tests.pipeline.mirror.flows import Flow
from tests.support.processes import Process, wait_for
from tests.support.times import RECENTLY_MS
from tests.support.topic_records import abort_records

pytestmark = pytest.mark.processes

SECONDS = 60.0


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "penstock.cli.tools.kafka_mirror_maker", *words]


def files(flow: Flow, folder: Path) -> list[str]:
    consumer, producer = folder / "consumer.properties", folder / "producer.properties"
    consumer.write_text(
        f"bootstrap.servers={flow.source}\ngroup.id={flow.group}\nauto.offset.reset=earliest\n"
        "metadata.max.age.ms=1000\n"
    )
    producer.write_text(f"bootstrap.servers={flow.target}\n")
    return ["--consumer.config", str(consumer), "--producer.config", str(producer)]


def test_topics_are_copied_under_their_names_and_a_restart_goes_on(flow: Flow, tmp_path: Path) -> None:
    for ending in ("", "-other", "-2"):
        flow.create(flow.source, f"{flow.topic}{ending}")
    flow.create(flow.target, flow.topic)
    with KafkaProducer(bootstrap_servers=flow.source) as producer:
        producer.send(flow.topic, b"1", b"k", headers=[("h", b"x")], timestamp_ms=RECENTLY_MS)
        producer.send(f"{flow.topic}-other", b"no")
        producer.send(f"{flow.topic}-2", b"two")
    words = [*files(flow, tmp_path), "--include", f"{flow.topic},{flow.topic}-[0-9]+", "--num.streams", "2"]
    for round_number in (1, 2):
        with Process(command(*words), tmp_path / f"{round_number}.log") as maker:
            maker.wait_until(lambda: committed(flow) == round_number, SECONDS, "the commit")  # noqa: B023
            os.kill(maker.pid, signal.SIGTERM)
            wait_for(lambda: not maker.alive, SECONDS, "the end")
        flow.produce("2")
    first, second = flow.records(flow.target, flow.topic)
    assert (first.value, first.key, first.timestamp_ms, first.headers) == (
        *(b"1", b"k", RECENTLY_MS),
        (("h", b"x"),),
    )
    assert second.value == b"2"
    with KafkaAdmin(bootstrap_servers=flow.target) as admin:
        names = {topic.name for topic in admin.list_topics() if topic.name.startswith(flow.topic)}
    assert names == {flow.topic, f"{flow.topic}-2"}


def test_what_was_aborted_is_not_copied(flow: Flow, tmp_path: Path) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce("1")
    abort_records(flow.source, flow.topic, "never")
    flow.produce("2")
    with Process(command(*files(flow, tmp_path), "--include", flow.topic), tmp_path / "log") as maker:
        maker.wait_until(lambda: committed(flow) == 4, SECONDS, "the commit")
    assert flow.values(flow.topic) == ["1", "2"]


def committed(flow: Flow) -> int:
    with KafkaAdmin(bootstrap_servers=flow.source) as admin:
        found = admin.committed_offsets(flow.group).get(TopicPartition(flow.topic, 0))
    return 0 if found is None else found.offset


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--include", "a("], "--include: got 'a(': "),
        (["--include", "a", "--num.streams", "0"], "--num.streams: got 0; takes a number from 1 on"),
        (["--include", "a", "--consumer.config", "/dev/null"], '/dev/null: Missing required configuration "'),
        (["--include", "a", "--producer.config", "/nowhere"], "/nowhere: can't be read"),
    ],
)
def test_one_line_for_what_is_wrong(flow: Flow, tmp_path: Path, change: list[str], said: str) -> None:
    done = subprocess.run(
        command(*files(flow, tmp_path), *change), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"kafka-mirror-maker: {said}")
    assert done.stderr.count("\n") == 1


def test_one_refused_record_among_many_stops_it(flow: Flow, tmp_path: Path) -> None:
    flow.create(flow.source, flow.topic)
    flow.create(flow.target, flow.topic, max_message_bytes="30000")
    with KafkaProducer(bootstrap_servers=flow.source) as producer:
        for number in range(5_000):
            producer.produce(flow.topic, b"x" * (50_000 if number == 4_321 else 10))
    done = subprocess.run(
        command(*files(flow, tmp_path), "--include", flow.topic), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert re.search(r"\d+ records were refused by the target; they are not committed", done.stderr)
