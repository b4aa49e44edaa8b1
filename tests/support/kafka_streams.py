"""Kafka Streams itself, from Maven: its own TopologyTestDriver, in one JVM for as many topologies as are asked for."""

from __future__ import annotations

import atexit
import base64
import functools
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import apache_kafka, toolchains
from tests.support.maven import Jars
from tests.support.processes import dying_with_us
from tools.suite.processes import note_a_process

VERSION = apache_kafka.VERSION
SOURCE = Path(__file__).parent / "java_streams"
JARS = Jars(
    toolchains.HOME / f"kafka-streams-{VERSION}",
    "kafka-streams",
    (
        ("org.apache.kafka", "kafka-streams-test-utils", VERSION),
        ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
        ("org.apache.logging.log4j", "log4j-core", "2.25.4"),
    ),
)

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class Piped:
    topic: str
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    def __str__(self) -> str:
        return (
            f"record {self.topic} {self.timestamp} {_told(self.key)} {_told(self.value)} {_all(self.headers)}"
        )


@dataclass(frozen=True)
class Advance:
    by_ms: int

    def __str__(self) -> str:
        return f"advance {self.by_ms}"


@dataclass
class Outcome:
    """What came of a case: per topic, records as they were produced."""

    description: str = ""
    produced: dict[str, list[Piped]] = field(default_factory=dict)
    dropped: int = 0


class KafkaStreamsError(Exception):
    """What Kafka Streams said against a topology, or while it ran."""


def _told(data: bytes | None) -> str:
    return "-" if data is None else "x" + data.hex()


def _all(headers: Headers) -> str:
    return ",".join(f"{name}={_told(value)}" for name, value in headers) or "-"


def _bytes(told: str) -> bytes | None:
    return None if told == "-" else bytes.fromhex(told[1:])


def _headers(told: str) -> Headers:
    parts = [] if told == "-" else [each.split("=") for each in told.split(",")]
    return tuple((name, _bytes(value)) for name, value in parts)


class KafkaStreams:
    """One JVM; a case that breaks off costs it, since its answers would be taken for those of the next one."""

    def __init__(self) -> None:
        self._jvm = subprocess.Popen(
            dying_with_us(command()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        atexit.register(self.close)

    @property
    def alive(self) -> bool:
        return self._jvm.poll() is None

    def run(self, name: str, events: Iterable[Piped | Advance], emit_interval_ms: int = 0) -> Outcome:
        try:
            return self._run(name, events, emit_interval_ms)
        except KafkaStreamsError:
            raise
        except BaseException:
            self.close()
            raise

    def start(self, name: str, bootstrap: str) -> None:
        """Has the topology run on a broker, by Kafka Streams itself, until `stop`."""
        self._say(f"start {name} {bootstrap}")

    def stop(self) -> None:
        """All that were started."""
        self._say("stop")

    def _say(self, words: str) -> None:
        assert self._jvm.stdin is not None
        self._jvm.stdin.write(f"{words}\n")
        self._jvm.stdin.flush()
        match self._line().split():
            case ["failed", text]:
                raise KafkaStreamsError(base64.b64decode(text).decode())

    def _run(self, name: str, events: Iterable[Piped | Advance], emit_interval_ms: int) -> Outcome:
        assert self._jvm.stdin is not None
        self._jvm.stdin.write("\n".join([f"case {name} {emit_interval_ms}", *map(str, events), "end\n"]))
        self._jvm.stdin.flush()
        outcome = Outcome()
        while (words := self._line().split()) != ["done"]:
            match words:
                case ["topology", text]:
                    outcome.description = base64.b64decode(text).decode()
                case ["produced", topic, timestamp, key, value, headers]:
                    record = Piped(topic, int(timestamp), _bytes(key), _bytes(value), _headers(headers))
                    outcome.produced.setdefault(topic, []).append(record)
                case ["dropped", count]:
                    outcome.dropped = int(count)
                case ["failed", text]:
                    raise KafkaStreamsError(base64.b64decode(text).decode())
        return outcome

    def _line(self) -> str:
        assert self._jvm.stdout is not None
        if not (line := self._jvm.stdout.readline()):
            raise EOFError("the JVM of Kafka Streams has ended")
        return line

    def close(self) -> None:
        atexit.unregister(self.close)
        self._jvm.kill()
        self._jvm.wait()
        for pipe in (self._jvm.stdin, self._jvm.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def command() -> tuple[str, ...]:
    flags = (*toolchains.JVM_FLAGS, "-Dlog.level=OFF")
    return toolchains.java_program("java-streams", SOURCE, "StreamsPeer", flags, JARS)


@functools.cache
def _started() -> list[KafkaStreams]:
    return []


def kafka_streams() -> KafkaStreams:
    """One for a worker; it ends with Python."""
    note_a_process()
    peers = _started()
    if not peers or not peers[-1].alive:
        peers[:] = [KafkaStreams()]
    return peers[-1]
