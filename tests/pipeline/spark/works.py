"""What tests have run on executors: functions that a Python worker imports by name."""

import os
import signal
import time
from pathlib import Path

import pyarrow as pa

from penstock.client import KafkaConsumer, TopicPartition


def double(number: int) -> tuple[int, int]:
    return 2 * number, os.getpid()


def where_after(seconds: float) -> tuple[str, int]:
    """In which folder, that of its executor, and in which process it has worked for a while."""
    time.sleep(seconds)
    return os.getcwd(), os.getpid()


def die_once(marker: str) -> str:
    """The first call ends the Python worker that it runs in."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def refuse(reason: str) -> None:
    raise ValueError(reason)


def wait_for_nothing(marker: str) -> None:
    Path(marker).touch()
    time.sleep(600)


class DieOnce:
    """Passes a column on; the task of partition 1 dies when that of partition 0 has written, once."""

    def __init__(self, marker: str, configs: dict[str, str], topic: str) -> None:
        self.marker, self.configs, self.topic = marker, configs, topic

    def pass_on(self, values: pa.Array, partitions: pa.Array) -> pa.Array:
        path = Path(self.marker)
        if partitions[0].as_py() == 1 and not path.exists():
            self._wait_for_records_of_others()
            path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return values

    def _wait_for_records_of_others(self) -> None:
        with KafkaConsumer({**self.configs, "isolation.level": "read_committed"}) as consumer:
            consumer.assign({TopicPartition(self.topic, 0): 0})
            assert consumer.poll(60)
