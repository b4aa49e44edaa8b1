"""kafka-server-stop and zookeeper-server-stop, in a network namespace of their own: what they find is what was
started there, whatever else runs on the machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.notes.shell import Machine, Running, machine
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

ZOOKEEPER = "zookeeper-server-start ../../config/zookeeper.properties"
BROKER = "kafka-server-start ../../config/server.properties"


@pytest.fixture(scope="module")
@starts_processes
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine(tmp_path_factory.mktemp("machine")) as made:
        yield made


@contextmanager
def zookeeper(shell: Machine) -> Iterator[Running]:
    with shell.run(ZOOKEEPER) as running:
        running.wait_for_text("ZooKeeper is ready on")
        yield running


@contextmanager
def broker(shell: Machine, *words: str) -> Iterator[Running]:
    with shell.run(" ".join([BROKER, *words])) as running:
        running.wait_for_text("is ready on")
        yield running


@pytest.mark.parametrize("what", ["kafka", "zookeeper"])
def test_nothing_to_stop(shell: Machine, what: str) -> None:
    assert shell.run_to_end(f"{what}-server-stop") == (1, [f"No {what} server to stop"], [])


def test_what_was_started_is_stopped(shell: Machine) -> None:
    with zookeeper(shell) as first, broker(shell) as second:
        assert shell.run_to_end("kafka-server-stop") == (0, [], [])
        assert second.wait() == 0
        assert shell.run_to_end("zookeeper-server-stop") == (0, [], [])
        assert first.wait() == 0


def test_servers_of_the_penstock_command(shell: Machine) -> None:
    zookeeper_command = f"penstock {ZOOKEEPER}"
    with (
        shell.run(zookeeper_command) as first,
        shell.run(f"penstock {BROKER.removeprefix('kafka-')}") as second,
    ):
        second.wait_for_text("is ready on")
        assert shell.run_to_end("penstock server-stop --node-id=0") == (0, [], [])
        assert second.wait() == 0
        assert shell.run_to_end("penstock zookeeper-server-stop") == (0, [], [])
        assert first.wait() == 0


def test_one_of_two_brokers(shell: Machine, tmp_path: Path) -> None:
    other = "--override broker.id=7 --override listeners=PLAINTEXT://127.0.0.1:9093 "
    other += f"--override advertised.listeners=PLAINTEXT://127.0.0.1:9093 --override log.dirs={tmp_path}"
    with zookeeper(shell), broker(shell) as stays, broker(shell, other) as goes:
        absent = shell.run_to_end("kafka-server-stop --node-id=8")
        assert absent == (0, ["No kafka server with node.id=8 to stop"], [])
        assert shell.run_to_end("kafka-server-stop --node-id=7") == (0, [], [])
        assert goes.wait() == 0
        assert shell.run_to_end("kafka-server-stop --process-role=controller")[0] == 0
        code, lines, _ = shell.run_to_end("kafka-server-stop --process-role=broker --node-id=0")
        assert code == 0
        assert lines == [
            "When both node-id and process-role are provided, the value for node-id will take precedence"
        ]
        assert stays.wait() == 0


def test_brokers_of_a_platform_are_left_to_it(shell: Machine, tmp_path: Path) -> None:
    with shell.run(f"penstock up --data-dir {tmp_path}") as platform:
        platform.wait_for_text("Penstock is ready")
        for what in ("kafka", "zookeeper"):
            code, lines, errors = shell.run_to_end(f"{what}-server-stop")
            assert (code, errors) == (1, [])
            assert lines[0] == f"No {what} server to stop"
            assert lines[1].endswith("belongs to `penstock up`: `penstock down` stops it")
        assert platform.interrupt() == 0


def test_in_the_background(shell: Machine) -> None:
    for command, out, ready in (
        (
            "zookeeper-server-start -daemon ../../config/zookeeper.properties",
            "zookeeper.out",
            "ZooKeeper is ready",
        ),
        (
            "kafka-server-start -daemon ../../config/server.properties",
            "kafkaServer.out",
            "broker 0 is ready on",
        ),
    ):
        assert shell.run_to_end(command) == (0, [], [])
        with shell.run(f"tail -n +1 -f logs/{out}") as log:
            log.wait_for_text(ready)
    with shell.run("tail -n +1 -f logs/kafkaServer.out") as log:
        assert shell.run_to_end("kafka-server-stop") == (0, [], [])
        log.wait_for_text("Zookeeper session closed")
    assert shell.run_to_end("zookeeper-server-stop") == (0, [], [])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("kafka-server-stop --node-ids=1", "kafka-server-stop: unrecognized arguments: --node-ids=1; "),
        (
            "kafka-server-stop --process-role=boss",
            "kafka-server-stop: argument --process-role: invalid choice",
        ),
        ("zookeeper-server-stop now", "zookeeper-server-stop: got 'now'; takes no arguments"),
        (
            "env SIGNAL=LOUD kafka-server-stop",
            "kafka-server-stop: SIGNAL: got 'LOUD'; takes the name of a signal",
        ),
        ("kafka-server-start --overide a=b", "kafka-server-start: unrecognized arguments: --overide"),
        (
            "zookeeper-server-start nowhere.properties",
            "zookeeper-server-start: nowhere.properties: can't be read",
        ),
    ],
)
def test_bad_input_is_one_line(shell: Machine, command: str, said: str) -> None:
    code, lines, errors = shell.run_to_end(command)
    assert (code, lines, len(errors)) == (1, [], 1), errors
    assert errors[0].startswith(said)


@pytest.mark.parametrize("what", ["kafka", "zookeeper"])
def test_usage(shell: Machine, what: str) -> None:
    name = {"kafka": "server", "zookeeper": "zookeeper"}[what]
    usage = f"USAGE: {what}-server-start [-daemon] {name}.properties [--override property=value]*"
    assert shell.run_to_end(f"{what}-server-start") == (1, [usage], [])
