"""What docs/operating/cluster.md has people type works in its order: an ensemble, brokers, restarts, one more broker, a
dead machine, a dead disk. The machines are addresses of one; the ensemble is a real one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notes.machines import Machines, Step, files_in, machines, steps_in
from tests.notes.shell import ROOT
from tests.support.cluster_fixture import PEER
from tests.zookeeper.java_client import require_java
from tools.suite.processes import starts_processes

PAGE = ROOT / "docs" / "operating" / "cluster.md"
LOOKS = re.compile(r" --(describe|verify|list)\b| list-endpoints ")
SERVERS = "kafka1:9092,kafka2:9092,kafka3:9092"

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.skipif(PEER == "apache", reason="it is about the brokers of Penstock"),
]


@pytest.fixture
@starts_processes
def shells(tmp_path: Path) -> Iterator[Machines]:
    require_java()
    with machines(tmp_path) as made:
        yield made


def prepare(shells: Machines, page: str) -> None:
    """The files that the page shows, on each machine with its own number and name, as it says."""
    files = files_in(page)
    for number in (1, 2, 3, 4):
        machine = f"kafka{number}"
        own = files["broker.id=1"].replace("broker.id=1", f"broker.id={number}")
        shells.write(machine, "server.properties", own.replace("//kafka1:", f"//{machine}:"))
        own = files["tickTime=2000"].replace("clientPortAddress=kafka1", f"clientPortAddress={machine}")
        shells.write(machine, "zoo.cfg", own)
        for path in ("/var/lib/zookeeper", "/disk/a", "/disk/b"):
            shells.place(machine, path).mkdir(parents=True)


def section_of(page: str, title: str) -> list[Step]:
    (text,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", page, flags=re.DOTALL | re.MULTILINE)
    return steps_in(text)


def follow(shells: Machines, steps: list[Step]) -> None:
    for step in steps:
        if LOOKS.search(step.command):
            shells.run_until_as_shown(step)
        else:
            said = shells.run(step)
            assert not step.shown or said == shells.meant(step.machine, step.shown), said


def produce(shells: Machines, machine: str, *values: str) -> None:
    """Acknowledged by all that are in sync."""
    lines = "".join(f"{value}\\n" for value in values)
    tool = f"kafka-console-producer --bootstrap-server {SERVERS} --topic orders --producer-property acks=all"
    shells.run(Step(machine, f"printf '{lines}' | {tool}", ""))


def consume(shells: Machines, machine: str, count: int) -> list[str]:
    tool = f"kafka-console-consumer --bootstrap-server {SERVERS} --topic orders --from-beginning --max-messages {count}"
    return sorted(shells.run(Step(machine, tool, "")).splitlines())


def test_the_page_does_what_it_says(shells: Machines) -> None:
    page = PAGE.read_text()
    prepare(shells, page)
    follow(shells, section_of(page, "ZooKeeper on each"))
    follow(shells, section_of(page, "A broker on each"))
    produce(shells, "kafka1", "ramen")
    follow(shells, section_of(page, "Restarting and upgrading"))
    produce(shells, "kafka1", "pho")
    follow(shells, section_of(page, "Adding a broker"))

    shells.lose("kafka2", "kafka", "zookeeper")
    produce(shells, "kafka1", "laksa")
    for disk in ("a", "b"):
        shutil.rmtree(shells.place("kafka2", f"/disk/{disk}/kafka"))
    shells.run(Step("kafka2", "systemctl start zookeeper", ""))
    follow(shells, section_of(page, "A machine that is dead"))

    looks, *mends = section_of(page, "A disk that is dead")
    shells.lose("kafka3", "kafka")
    dead = shells.place("kafka3", "/disk/b/kafka")
    shutil.rmtree(dead)
    dead.write_text("a disk that can't be read")
    shells.run(Step("kafka3", "systemctl start kafka", ""))
    produce(shells, "kafka1", "miso")
    follow(shells, [looks])
    dead.unlink()
    follow(shells, mends)
    assert consume(shells, "kafka1", 4) == ["laksa", "miso", "pho", "ramen"]
