"""Programs on a broker, their packs in threads of this process: who shares tasks, takes them over, and what fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from uuid import uuid4

import pytest

from penstock import KafkaAdmin, KafkaProducer
from penstock.pipeline.tasks.application import State, StreamsApplication
from penstock.pipeline.tasks.program import ProgramFile
from penstock.testing import InProcessBroker
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from tests.pipeline.tasks.running import make_topics, pipe, produced, program_from
from tests.support.kafka_streams import Piped
from tests.support.processes import wait_for
from tests.support.tick_runner import TickRunner
from tests.support.topic_records import records_to_end
from tests.support.wire_client import WireClient

SECONDS = 15.0
PARTITIONS = 4
SETTINGS = {"session.timeout.ms": "1500", "replication.factor": "1"}
BROKER = {"group.min.session.timeout.ms": "500", "auto.create.topics.enable": "false"}


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker(BROKER) as broker:
        yield broker


class Room:
    """A program with topics of its own, and the processes that run it."""

    def __init__(self, broker: InProcessBroker, folder: Path, stack: ExitStack) -> None:
        self.broker, self.folder, self.stack = broker, folder, stack
        self.name = f"t{uuid4().hex[:8]}"
        self.is_over = threading.Event()

    def topic(self, name: str) -> str:
        return f"{self.name}-{name}"

    def has(self, topic: str, records: int) -> Callable[[], bool]:
        """Whether so many are committed."""
        return lambda: len(produced(self.broker, self.topic(topic))) >= records

    def program(self, lines: str) -> ProgramFile:
        text = (
            "from penstock.streams import *\n"
            "builder = StreamsBuilder(default_key_serde='string', default_value_serde='string')\n"
            f"{lines.format(prefix=self.name)}\n"
            f"program = Program('{self.name}-app', builder.build())\n"
        )
        return program_from(text, self.folder)

    def start(self, file: ProgramFile, settings: Mapping[str, str] | None = None) -> StreamsApplication:
        engine = self.stack.enter_context(TickRunner())
        configs = {**SETTINGS, "bootstrap.servers": self.broker.bootstrap_servers, **(settings or {})}
        application = StreamsApplication(file, configs, engine, packs=2)
        self.stack.callback(application.stop)
        application.start()
        return application

    def member(self) -> str:
        """The id of the only one."""
        with KafkaAdmin(bootstrap_servers=self.broker.bootstrap_servers) as admin:
            (member,) = admin.describe_consumer_groups([f"{self.name}-app"])[f"{self.name}-app"].members
        return member.member_id

    def abandon(self, application: StreamsApplication, member_id: str) -> None:
        """The group thinks that it is gone, and its packs do not know."""
        membership = application._membership
        assert membership is not None
        membership._on_change = lambda mine, metadata: self.is_over.wait()  # type: ignore[method-assign]
        with WireClient(self.broker.bootstrap_servers) as client:
            answer = client.send(LeaveGroupRequest(f"{self.name}-app", "", [MemberIdentity(member_id)]), 4)
        assert (answer.error_code, [each.error_code for each in answer.members]) == (0, [0])


@pytest.fixture
def room(broker: InProcessBroker, tmp_path: Path) -> Iterator[Room]:
    with ExitStack() as stack:
        room = Room(broker, tmp_path, stack)
        yield room
        room.is_over.set()


# --- who has which tasks

COUNT = """\
lines = builder.stream(["{prefix}-in1", "{prefix}-in2"])
lines.group_by_key().count().to_stream().to("{prefix}-out")
"""


class Feed:
    """Records by many keys, until it is told to stop."""

    KEYS = 24

    def __init__(self, room: Room) -> None:
        self._room = room
        self._stopping = threading.Event()
        self.sent: dict[bytes, int] = {}
        self._thread = threading.Thread(target=self._run, name="feed")

    def _run(self) -> None:
        with KafkaProducer(bootstrap_servers=self._room.broker.bootstrap_servers, linger_ms=0) as producer:
            number = 0
            while not self._stopping.wait(0.002):
                key = b"key-%d" % (number % self.KEYS)
                producer.produce(self._room.topic(f"in{1 + number % 7 % 2}"), b"x", key)
                self.sent[key] = self.sent.get(key, 0) + 1
                number += 1

    def __enter__(self) -> Feed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def go_on(self, records: int) -> None:
        goal = sum(self.sent.values()) + records
        wait_for(lambda: sum(self.sent.values()) >= goal, SECONDS, "more records")


def counts_of(room: Room) -> dict[bytes, list[int]]:
    """What was said of each key, in its order."""
    counts: dict[bytes, list[int]] = {}
    for each in records_to_end(room.broker.bootstrap_servers, room.topic("out"), range(PARTITIONS)):
        assert each.key is not None
        assert each.value is not None
        counts.setdefault(each.key, []).append(int.from_bytes(each.value, "big"))
    return counts


def check_counts(room: Room, feed: Feed) -> None:
    """Each update once, and in order."""

    def is_done() -> bool:
        return sum(map(len, counts_of(room).values())) >= sum(feed.sent.values())

    wait_for(is_done, SECONDS, "all records to be counted")
    assert counts_of(room) == {key: list(range(1, count + 1)) for key, count in feed.sent.items()}


def running(room: Room, *applications: StreamsApplication) -> None:
    """Until they, and nobody else, have all tasks among them."""

    def is_so() -> bool:
        shares = [application.own_task_names() for application in applications]
        return (
            all(application.state is State.RUNNING for application in applications)
            and all(shares)
            and sorted(task for share in shares for task in share)
            == [f"0_{each}" for each in range(PARTITIONS)]
        )

    wait_for(is_so, SECONDS, "tasks to be shared")


def count_room(room: Room) -> ProgramFile:
    make_topics(room.broker, {room.topic(name): PARTITIONS for name in ("in1", "in2", "out")})
    return room.program(COUNT)


def test_tasks_are_shared_handed_over_and_taken_from_the_dead(room: Room) -> None:
    file = count_room(room)
    with Feed(room) as feed:
        one = room.start(file)
        running(room, one)
        other = room.start(file)
        running(room, one, other)
        feed.go_on(200)
        one.stop()
        assert one.state is State.STOPPED
        running(room, other)
        member_id = room.member()
        third = room.start(file)
        running(room, other, third)
        feed.go_on(200)
        room.abandon(other, member_id)
        running(room, third)
        feed.go_on(200)
    check_counts(room, feed)
    assert (other.failure, third.failure) == (None, None)
    assert other.disturbances > 0, "what it went on with was refused"


# --- what fails


def failed(room: Room, lines: str, settings: Mapping[str, str] | None = None, value: bytes = b"0") -> str:
    """What is told of a program that can't go on, which hears of a record of this value."""
    make_topics(room.broker, {room.topic("in"): PARTITIONS})
    application = room.start(room.program(lines), settings)
    wait_for(lambda: application.state is not State.STARTING, SECONDS, "the program to begin")
    pipe(room.broker, [Piped(room.topic("in"), 1_000, b"k", value, ())])
    assert application.wait(SECONDS), "it tries again and again"
    assert application.state is State.FAILED
    return str(application.failure)


def test_a_lambda_that_raises_is_told_with_its_place(room: Room) -> None:
    told = failed(room, "builder.stream('{prefix}-in').map_values(lambda v: 1 // int(v)).to('{prefix}-out')")
    place = next(room.folder.iterdir()).name
    assert told.startswith(
        "ZeroDivisionError: integer division or modulo by zero This was in KSTREAM-MAPV"
    ), told
    assert f"({place}:3)" in told
    assert told.endswith(f"records of topic {room.topic('in')}.")


def test_an_error_of_files_in_a_lambda_is_the_programs_own(room: Room) -> None:
    told = failed(room, "builder.stream('{prefix}-in').for_each(lambda k, v: open('/no/such/file'))")
    assert told.startswith("FileNotFoundError: ")


def test_a_record_that_cannot_be_read_is_told(room: Room) -> None:
    told = failed(room, "builder.stream('{prefix}-in').for_each(lambda k, v: None)", value=b"\xff")
    assert told.startswith("SerializationError: "), told
    assert told.endswith(f"This was the record at offset 0 of topic {room.topic('in')}."), told


def test_a_sink_topic_that_is_not_there_is_told(room: Room) -> None:
    lines = "builder.stream('{prefix}-in').to('{prefix}-nowhere')"
    told = failed(room, lines, {"transaction.timeout.ms": "1500"})
    assert f"topic {room.topic('nowhere')} is written, and there is no such topic; create the topic" in told


def test_a_record_that_is_too_large_is_told(room: Room) -> None:
    with KafkaAdmin(bootstrap_servers=room.broker.bootstrap_servers) as admin:
        admin.create_topic(room.topic("out"), configs={"max.message.bytes": "2000"})
    told = failed(room, "builder.stream('{prefix}-in').to('{prefix}-out')", value=token_hex(5_000).encode())
    assert "max.message.bytes" in told, told


# --- what handlers go on without


def test_dead_letters_are_written_once(room: Room) -> None:
    """Also when the program is stopped and goes on."""
    make_topics(room.broker, {room.topic(name): 1 for name in ("in", "out", "dead")})
    file = room.program(
        "builder.stream('{prefix}-in').map_values(lambda v: str(1 // int(v))).to('{prefix}-out')"
    )
    settings = {
        "deserialization.exception.handler": "LogAndContinueExceptionHandler",
        "processing.exception.handler": "continue",
        "errors.dead.letter.queue.topic.name": room.topic("dead"),
    }
    records = [
        Piped(room.topic("in"), 1_000, b"k", value, ()) for value in (b"1", b"\xff", b"0", b"1", b"\xfe")
    ]
    skipped: dict[str, int] = {}
    for letters in (3, 6):
        application = room.start(file, settings)
        pipe(room.broker, records)
        wait_for(room.has("dead", letters), SECONDS, "dead letters")
        application.stop()
        skipped = {what: skipped.get(what, 0) + count for what, count in application.skipped.items()}
    assert skipped == {"deserialization": 4, "processing": 2}
    assert [each.value for each in produced(room.broker, room.topic("out"))] == [b"1"] * 4
    dead = produced(room.broker, room.topic("dead"))
    assert [each.value for each in dead] == [b"\xff", b"0", b"\xfe"] * 2
    offsets = [dict(each.headers)["__streams.errors.offset"] for each in dead]
    assert offsets == [b"1", b"2", b"4", b"6", b"7", b"9"]


def test_what_was_there_before_is_not_of_interest(room: Room) -> None:
    make_topics(room.broker, {room.topic(name): 1 for name in ("app-in", "out")})
    pipe(room.broker, [Piped(room.topic("app-in"), 1_000, b"k", b"before", ())])
    file = room.program(
        "late = Consumed(offset_reset='latest')\n"
        "builder.stream('{prefix}-app-in', late).group_by(lambda k, v: v).count().to_stream().to('{prefix}-out')"
    )
    application = room.start(file)
    wait_for(lambda: application.state is State.RUNNING, SECONDS, "the program to run")
    pipe(room.broker, [Piped(room.topic("app-in"), 1_000, b"k", b"after", ())])
    wait_for(room.has("out", 1), SECONDS, "a result")
    assert [each.key for each in produced(room.broker, room.topic("out"))] == [b"after"]


def test_a_pattern_matches_no_topics_of_the_programs_own(room: Room) -> None:
    """Which are there when it begins for the second time."""
    make_topics(room.broker, {room.topic("app-in"): 1, "out-of-" + room.name: 1})
    file = room.program(
        "import re\n"
        "lines = builder.stream(re.compile('{prefix}-app-.*'))\n"
        "lines.group_by(lambda k, v: v).count(Materialized('counts')).to_stream().to('out-of-{prefix}')"
    )
    for _ in range(2):
        application = room.start(file)
        assert application._patterns == {f"{room.name}-app-.*": (room.topic("app-in"),)}
        application.stop()
