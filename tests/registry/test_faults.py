"""Two registries, many writers, the leader killed again and again: no id is given twice, nothing answered is lost."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock import KafkaConsumer, TopicPartition
from tests.support.cluster_fixture import KafkaServer, running_kafka
from tests.support.processes import wait_for
from tests.support.registry import Registry, Said, own_group, running_registry
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.processes, pytest.mark.faults]

WRITERS = 50
SCHEMAS = int(os.environ.get("PENSTOCK_FAULT_SCHEMAS", "600"))
KILLS = max(3, SCHEMAS // 500)
PATIENCE_SECONDS = 120.0 + SCHEMAS / 10
QUICK = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}
_LEADS = re.compile(r"generation (\d+): (\S+) leads")


@dataclass(frozen=True)
class Answered:
    schema: str
    subject: str
    schema_id: int
    version: int
    highest_before: int
    """The highest id that anybody had been answered when this schema was first sent."""


class Ledger:
    """What the writers were told."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.answers: list[Answered] = []
        self.retries = 0
        self._highest = 0

    def highest(self) -> int:
        with self._lock:
            return self._highest

    def note(self, answered: Answered) -> None:
        with self._lock:
            self.answers.append(answered)
            self._highest = max(self._highest, answered.schema_id)

    def note_retry(self) -> None:
        with self._lock:
            self.retries += 1


def schema_of(number: int) -> str:
    fields = [{"name": f"field{number}", "type": ["null", "int"], "default": None}]
    return json.dumps({"type": "record", "name": "Event", "fields": fields}, separators=(",", ":"))


def ask(registry: Registry, subject: str, schema: str) -> Said | None:
    """None if there was no answer."""
    try:
        return registry.ask("POST", f"/subjects/{subject}/versions", {"schema": schema}, timeout=15)
    except (OSError, http.client.HTTPException):
        return None


def register(registries: list[Registry], number: int, ledger: Ledger) -> None:
    """Tries until it is answered, with one registry after the other, as clients do that are given several urls."""
    subject, schema, highest = f"events-{number % WRITERS}", schema_of(number), ledger.highest()

    def try_once() -> Said | None:
        registry = registries[random.randrange(len(registries))]
        said = ask(registry, subject, schema)
        if said is not None and said.status == 200:
            return said
        assert said is None or said.status in (500, 503), said
        ledger.note_retry()
        return None

    said = wait_for(try_once, PATIENCE_SECONDS, f"schema {number} to be registered", interval=0.05)
    ledger.note(Answered(schema, subject, said.body["id"], said.body["version"], highest))


def leader_of(registries: list[Registry]) -> Registry | None:
    """The one that the latest election chose, as the registries log it."""
    found = [match for each in registries for match in _LEADS.findall(each.process.log_text())]
    url = max(found, key=lambda match: int(match[0]))[1] if found else ""
    return next((each for each in registries if each.url == url and each.process.alive), None)


def kill_leader(registries: list[Registry]) -> None:
    leader = wait_for(lambda: leader_of(registries), PATIENCE_SECONDS, "a leader")
    leader.process.signal(signal.SIGKILL)
    leader.process.wait()
    leader.restart()


@pytest.fixture
@starts_processes
def pair(tmp_path: Path) -> Iterator[tuple[KafkaServer, list[Registry]]]:
    with running_kafka(tmp_path, QUICK) as kafka:
        settings = {**own_group(), "kafkagroup.session.timeout.ms": "2000", "kafkastore.timeout.ms": "10000"}
        registries = [Registry(kafka.bootstrap, tmp_path, settings) for _ in range(2)]
        try:
            for registry in registries:
                registry.wait_until_ready()
            yield kafka, registries
        finally:
            for registry in registries:
                registry.process.stop()


@pytest.mark.timeout(1800)
def test_nothing_answered_is_lost_when_leaders_are_killed(
    pair: tuple[KafkaServer, list[Registry]], tmp_path: Path
) -> None:
    kafka, registries = pair
    ledger = Ledger()
    with ThreadPoolExecutor(WRITERS) as writers:
        writing = [writers.submit(register, registries, number, ledger) for number in range(SCHEMAS)]
        for kill in range(KILLS):
            due = (kill + 1) * SCHEMAS // (KILLS + 1) - random.randrange(SCHEMAS // (KILLS + 1))
            wait_for(lambda due=due: len(ledger.answers) >= due, PATIENCE_SECONDS, f"{due} answers")
            kill_leader(registries)
        for each in writing:
            each.result(PATIENCE_SECONDS)
    print(f"{len(ledger.answers)} schemas, {KILLS} kills, {ledger.retries} retries")
    check_answers(ledger.answers)
    check_log(kafka, registries[0].settings["kafkastore.topic"], ledger.answers)
    topic = registries[0].settings["kafkastore.topic"]
    with running_registry(
        kafka.bootstrap, tmp_path, {**own_group(), "kafkastore.topic": topic, "leader.eligibility": "false"}
    ) as fresh:
        for registry in (*registries, fresh):
            registry.wait_until_ready()
            check_registry(registry, ledger.answers)


def check_answers(answers: list[Answered]) -> None:
    assert len(answers) == SCHEMAS
    assert len({each.schema_id for each in answers}) == SCHEMAS, "an id was given twice"
    assert len({(each.subject, each.version) for each in answers}) == SCHEMAS, "a version was given twice"
    late = [each for each in answers if each.schema_id <= each.highest_before]
    assert not late, "an id is smaller than one that was given before it was asked for"


def check_log(kafka: KafkaServer, topic: str, answers: list[Answered]) -> None:
    """The topic alone: ids ascend, and every answer is in it."""
    ids: list[int] = []
    stored: dict[int, str] = {}
    with KafkaConsumer(
        bootstrap_servers=kafka.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        while len(stored) < len(answers):
            records = consumer.poll(timeout=PATIENCE_SECONDS)
            assert records, f"{len(stored)} schemas in the topic, {len(answers)} were answered"
            for record in records:
                if json.loads(record.key)["keytype"] == "SCHEMA":
                    value = json.loads(record.value)
                    ids.append(value["id"])
                    stored[value["id"]] = value["schema"]
    assert ids == sorted(set(ids)), "ids do not ascend in the log"
    assert all(stored[each.schema_id] == each.schema for each in answers)


def check_registry(registry: Registry, answers: list[Answered]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", registry.port, timeout=60)
    try:
        for each in answers:
            connection.request("GET", f"/subjects/{each.subject}/versions/{each.version}")
            said = json.loads(connection.getresponse().read())
            assert (said["id"], said["schema"]) == (each.schema_id, each.schema)
    finally:
        connection.close()
