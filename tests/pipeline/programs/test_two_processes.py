"""Deployed programs, in two pipeline processes: one is killed, and all go on in the other, each record once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from penstock import KafkaAdmin, KafkaProducer, RecordBatch
from penstock.testing import InProcessBroker
from penstock.testing.connect_process import ConnectProcess
from tests.support.processes import wait_for
from tests.support.spark import require_java
from tests.support.topic_records import records_to_end

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(240)]

PROGRAMS = int(os.environ.get("PENSTOCK_FAULT_PROGRAMS", "3"))
SECONDS_TO_GO_ON = 30.0
START_SECONDS = 120.0
SESSION_MS = "6000"


def program_text(name: str) -> str:
    return (
        "from penstock.streams import Materialized, Produced, Program, StreamsBuilder\n"
        "builder = StreamsBuilder(default_key_serde='string', default_value_serde='string')\n"
        f"words = builder.stream({name + '-in'!r}).group_by_key()\n"
        f"words.count(Materialized('counts')).to_stream().to({name + '-out'!r}, Produced('string', 'long'))\n"
        f"program = Program({name!r}, builder.build(), {{'num.stream.threads': '1'}})\n"
    )


def penstock(*words: str, url: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "penstock"), "streams", *words]
    return subprocess.run(
        command, env={**os.environ, "PENSTOCK_PIPELINE_URL": url}, capture_output=True, text=True, timeout=60
    )


def ask(url: str, path: str) -> Any:
    with urllib.request.urlopen(f"{url}{path}", timeout=30) as answer:
        return json.load(answer)


@pytest.fixture
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as running:
        yield running


def send(broker: InProcessBroker, names: list[str], count: int) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for name in names:
            keys = [f"k{number % 5}".encode() for number in range(count)]
            producer.send_batch(RecordBatch(f"{name}-in", [b"x"] * count, keys))


def counts_of(broker: InProcessBroker, name: str) -> dict[bytes, list[int]]:
    counts: dict[bytes, list[int]] = {}
    for record in records_to_end(broker.bootstrap_servers, f"{name}-out", range(2)):
        counts.setdefault(record.key, []).append(int.from_bytes(record.value, "big"))
    return counts


def exact(count: int) -> dict[bytes, list[int]]:
    each = Counter(f"k{number % 5}".encode() for number in range(count))
    return {key: list(range(1, total + 1)) for key, total in each.items()}


def test_programs_go_on_when_a_process_is_killed(broker: InProcessBroker, tmp_path: Path) -> None:
    require_java()
    group = f"pipeline-{uuid.uuid4().hex[:6]}"
    names = [f"program-{number}" for number in range(PROGRAMS)]
    shared = {
        "group.id": group,
        "program.deploy.enable": "true",
        "session.timeout.ms": SESSION_MS,
        "heartbeat.interval.ms": "1000",
        **{f"{each}.storage.topic": f"{group}-{each}" for each in ("config", "offset", "status")},
    }
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        for name in names:
            for end in ("in", "out"):
                admin.create_topic(f"{name}-{end}", partitions=2)
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(ConnectProcess(broker.bootstrap_servers, shared)) for _ in range(2)
        )
        for name in names:
            file = tmp_path / f"{name}.py"
            file.write_text(program_text(name))
            said = penstock("deploy", str(file), "--set", f"session.timeout.ms={SESSION_MS}", url=first.url)
            assert said.returncode == 0, said.stderr
        send(broker, names, 100)

        def all_counted(count: int) -> bool:
            return all(counts_of(broker, name) == exact(count) for name in names)

        wait_for(lambda: all_counted(100), START_SECONDS, "all programs to count", 0.5)
        tasks_of_both = [
            task
            for process in (first, second)
            for name in names
            for task in ask(process.url, f"/programs/{name}")["tasks_here"]
        ]
        assert len(tasks_of_both) == 2 * PROGRAMS, "each task is somewhere, and once"
        check_queries(first.url, second.url, names[0])
        kill_with_all_below(first)
        killed_at = time.monotonic()
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for name in names:
                keys = [f"k{number % 5}".encode() for number in range(100, 200)]
                producer.send_batch(RecordBatch(f"{name}-in", [b"x"] * 100, keys))
        wait_for(lambda: all_counted(200), 2 * SECONDS_TO_GO_ON, "all programs to go on", 0.5)
        seconds = time.monotonic() - killed_at
        print(f"all {PROGRAMS} programs went on {seconds:.1f} s after the kill")
        listed = penstock("list", url=second.url).stdout.splitlines()
        assert len(listed) == 1 + PROGRAMS
        assert all("RUNNING" in line for line in listed[1:]), listed
        assert penstock("stop", names[0], url=second.url).stdout.startswith(f"{names[0]}: STOPP")
        wait_for(lambda: ask(second.url, f"/programs/{names[0]}")["state"] == "STOPPED", 30, "the end of one")
        assert penstock("start", names[0], url=second.url).returncode == 0
        assert penstock("delete", names[1], url=second.url).returncode == 0
        assert penstock("describe", names[1], url=second.url).returncode == 1


def kill_with_all_below(process: ConnectProcess) -> None:
    assert process._process is not None
    os.kill(process._process.pid, signal.SIGKILL)
    process._process.wait()


def check_queries(url: str, other: str, name: str) -> None:
    """Any process answers for all of a program's tasks."""
    assert ask(url, f"/programs/{name}/stores") == ["counts"]
    for each in (url, other):
        rows = ask(each, f"/programs/{name}/stores/counts")
        assert [(row["key"], row["value"]) for row in rows] == [(f"k{number}", 20) for number in range(5)]
    said = penstock("query", name, "counts", "k3", url=other).stdout
    assert [json.loads(line)["value"] for line in said.splitlines()] == [20]
    ranged = penstock(
        "query", name, "counts", "--first", "k1", "--last", "k3", "--limit", "2", url=url
    ).stdout
    assert [json.loads(line)["key"] for line in ranged.splitlines()] == ["k1", "k2"]
    assert penstock("query", name, "counts", "nobody", url=url).stdout == ""
    for words, message in (
        ((name, "totals"), "there is no store 'totals' (stores: counts)"),
        ((name, "counts", "--limit", "0"), "limit: got 0; takes 1 to 10000"),
        (("nobody", "counts"), "there is no program 'nobody'"),
    ):
        refused = penstock("query", *words, url=url)
        assert refused.returncode == 1
        assert message in refused.stderr


def test_a_worker_that_was_not_told_to_takes_no_code(broker: InProcessBroker, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(program_text("program"))
    with ConnectProcess(broker.bootstrap_servers) as process:
        refused = penstock("deploy", str(file), url=process.url)
    assert refused.returncode == 1
    assert "takes no programs; program.deploy.enable=true" in refused.stderr
