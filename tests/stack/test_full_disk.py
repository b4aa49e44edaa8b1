"""A platform whose disk fills up: its broker ends and says why, comes back with the space, and nothing is lost."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from penstock.errors import DISK_EXIT_CODE
from penstock.settings.properties import read_properties
from penstock.stack.child import write_properties
from penstock.stack.data_dir import DataDir, RunningService, RunningStack
from penstock.stack.processes import ProcessIdentity
from tests.stack.platform import PATIENCE_S, Up, eventually, is_running, penstock, status
from tests.support.small_disk import fill, mounted
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

StartUp = Callable[..., Up]

SERVER = [sys.executable, "-m", "penstock.cli.tools.kafka_server_start"]
DISK_BYTES = 32 << 20
LEFT_BYTES = 2 << 20
VALUE_BYTES = 50_000
RESTARTS = 2


@pytest.fixture
@starts_processes
def disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", DISK_BYTES) as place:
        yield place


class Numbers:
    """A producer of numbered records, and what was acknowledged of them."""

    def __init__(self, address: str) -> None:
        self.acknowledged: list[int] = []
        self.errors: list[KafkaError] = []
        self.sent = 0
        self.producer = Producer(
            {
                "bootstrap.servers": address,
                "enable.idempotence": True,
                "linger.ms": 0,
                "reconnect.backoff.max.ms": 200,
                "batch.num.messages": 1,
            }
        )

    def send(self) -> None:
        self.producer.produce(
            "foods", b"%d " % self.sent + bytes(VALUE_BYTES), partition=0, on_delivery=self._on_delivery
        )
        self.sent += 1
        self.producer.poll(0.01)

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            value = message.value()
            assert value is not None
            self.acknowledged.append(int(value.split(b" ")[0]))
        else:
            self.errors.append(error)


def numbers_in(address: str, count: int) -> list[int]:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition("foods", 0, 0)])
    try:
        found: list[int] = []
        while messages := consumer.consume(max(count - len(found), 1), 10 if len(found) < count else 1):
            found += [int((message.value() or b"").split(b" ")[0]) for message in messages]
        return found
    finally:
        consumer.close()


def ends_of_broker(up: Up) -> int:
    return len(re.findall(r"broker-1 \(pid \d+\) ended: its disk", up.update()))


def test_a_disk_that_fills_up_and_has_space_again(start_up: StartUp, disk: Path, offset: str) -> None:
    data_dir = disk / "data"
    up = start_up("--data-dir", str(data_dir), "--port-offset", offset, "--only", "zookeeper,broker")
    up.wait_for("Penstock is ready\n")
    address = f"127.0.0.1:{9092 + int(offset)}"
    numbers = Numbers(address)
    numbers.send()
    assert numbers.producer.flush(PATIENCE_S) == 0
    fill(disk / "filler", leave_bytes=LEFT_BYTES)
    for _ in range(2 * LEFT_BYTES // VALUE_BYTES):
        numbers.send()
    eventually(lambda: (numbers.producer.poll(0), ends_of_broker(up))[1] > RESTARTS)
    assert up.process.poll() is None
    broker = next(each for each in status(data_dir) if each["kind"] == "broker")
    assert not broker["healthy"]
    assert "its disk is full or fails: the broker ends: log.dirs: none" in broker["reason"]
    assert "No space left on device" in broker["reason"]
    assert "bytes free" in broker["reason"]
    shown = penstock("status", "--data-dir", str(data_dir))
    assert shown.returncode == 1
    assert re.search(r"^broker-1 .* no: .*disk", shown.stdout, re.MULTILINE), shown.stdout
    assert 0 < len(numbers.acknowledged) < numbers.sent
    (disk / "filler").unlink()
    assert numbers.producer.flush(PATIENCE_S) == 0, numbers.errors
    eventually(lambda: all(each["healthy"] for each in status(data_dir)))
    assert [each["reason"] for each in status(data_dir)] == [None, None]
    numbers.send()
    assert numbers.producer.flush(PATIENCE_S) == 0
    assert not numbers.errors
    assert numbers.acknowledged == list(range(numbers.sent))
    assert numbers_in(address, numbers.sent) == numbers.acknowledged
    log = (data_dir / "logs" / "broker-1.log").read_text()
    assert "Traceback" not in log


def test_a_start_on_a_full_disk_says_why_and_damages_nothing(
    start_up: StartUp, disk: Path, offset: str
) -> None:
    data_dir = disk / "data"
    words = ["--data-dir", str(data_dir), "--port-offset", offset, "--only", "zookeeper,broker"]
    first = start_up(*words)
    first.wait_for("Penstock is ready\n")
    address = f"127.0.0.1:{9092 + int(offset)}"
    numbers = Numbers(address)
    for _ in range(20):
        numbers.send()
    assert numbers.producer.flush(PATIENCE_S) == 0
    assert first.stop() == 0
    fill(disk / "filler")
    config = (data_dir / "config" / "broker-1.properties").read_bytes()
    refused = start_up(*words)
    assert refused.wait() == 1
    assert "No space left on device" in refused.output
    assert "Traceback" not in refused.output
    assert (data_dir / "config" / "broker-1.properties").read_bytes() == config
    (disk / "filler").unlink()
    start_up(*words).wait_for("Penstock is ready\n")
    assert numbers_in(address, numbers.sent) == numbers.acknowledged
    assert json.loads((data_dir / "penstock.json").read_text())["ready"]


def test_recovery_on_a_full_disk_loses_nothing(
    start_up: StartUp, data_dir: Path, disk: Path, offset: str
) -> None:
    """A broker was killed, its log has a torn end, its indexes are gone, and there is no room to write new ones."""
    log_dir = disk / "logs"
    words = ["--data-dir", str(data_dir), "--port-offset", offset, "--only", "zookeeper,broker"]
    words += ["--override", f"log.dirs={log_dir}"]
    first = start_up(*words)
    first.wait_for("Penstock is ready\n")
    address = f"127.0.0.1:{9092 + int(offset)}"
    numbers = Numbers(address)
    for _ in range(20):
        numbers.send()
    assert numbers.producer.flush(PATIENCE_S) == 0
    broker = next(each for each in status(data_dir) if each["kind"] == "broker")
    first.stop(signal.SIGKILL)
    os.kill(broker["pid"], signal.SIGKILL)
    eventually(lambda: not is_running(broker["pid"]))
    for index in (log_dir / "foods-0").glob("*.*index"):
        index.unlink()
    with (log_dir / "foods-0" / f"{0:020}.log").open("ab") as log:
        log.write(b"torn")
    fill(disk / "filler")
    for _ in range(2):
        refused = subprocess.run(
            [*SERVER, str(data_dir / "config" / "broker-1.properties")],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert refused.returncode == DISK_EXIT_CODE, refused.stderr
        last = refused.stderr.splitlines()[-1]
        assert last.startswith("kafka-server-start: log.dirs: none of the directories can be used: "), last
        assert "No space left on device (0 bytes free)" in last
        assert "Traceback" not in refused.stderr
    (disk / "filler").unlink()
    start_up(*words).wait_for("Penstock is ready\n")
    numbers.send()
    assert numbers.producer.flush(PATIENCE_S) == 0
    assert numbers_in(address, numbers.sent) == numbers.acknowledged == list(range(numbers.sent))


def test_the_supervisor_needs_no_room(disk: Path) -> None:
    """It notes who runs in the blocks that its file has, and leaves settings alone that are as they should be."""
    data_dir = DataDir(disk / "data")
    data_dir.create()
    up = RunningService("broker-1", "broker", "::1", 9092, "[::1]:9092", ProcessIdentity(2, 3))
    data_dir.save(RunningStack(ProcessIdentity(1, 2), True, (up,)))
    write_properties(data_dir.config_path("broker-1"), {"broker.id": "1"})
    fill(disk / "filler")
    down = replace(up, process=None, ended="ended: its disk is full or fails: " + "x" * 300)
    stack = RunningStack(ProcessIdentity(1, 2), True, (down,))
    data_dir.save(stack)
    assert data_dir.load() == stack
    write_properties(data_dir.config_path("broker-1"), {"broker.id": "1"})
    with pytest.raises(OSError, match="No space left"):
        write_properties(data_dir.config_path("broker-1"), {"broker.id": "1", "more": "x" * 10_000})
    assert read_properties(data_dir.config_path("broker-1")) == {"broker.id": "1"}
