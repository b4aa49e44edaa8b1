"""`penstock streams reset`: a program begins anew, by its file or by its id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock import KafkaAdmin
from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker, Interceptor
from penstock.wire.messages.leave_group import LeaveGroupResponse, MemberResponse
from tests.cli.running import Cli
from tests.java_tools.members import commit_alone, committed, member

pytestmark = pytest.mark.processes

Produce = Callable[..., None]
PROGRAM = """
import re

from penstock.streams import Produced, Program, StreamsBuilder

builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
lines = builder.stream("{topic}").merge(builder.stream(re.compile("{topic}-more-.*")))
places = builder.global_table("{topic}-places")
lines.group_by_key().count().to_stream().to("{topic}-counts", Produced(value_serde="long"))
program = Program("{application}", builder.build(), {configs})
"""


class Shop:
    """A program in a file, the topics that it reads, and what it has committed and made."""

    def __init__(self, cli: Cli, topic: str) -> None:
        self.bootstrap, self.directory, self.topic = cli.bootstrap_servers, cli.directory, topic
        self.application = f"{topic}-app"
        self.own_topics = {f"{self.application}-counts-changelog", f"{self.application}-words-repartition"}
        self.read = (topic, f"{topic}-more-1", f"{topic}-more-2")
        self.file = self.write()
        with KafkaAdmin(bootstrap_servers=self.bootstrap) as admin:
            for name in (*self.read[1:], f"{topic}-places", f"{topic}-counts", *self.own_topics):
                admin.create_topic(name)
        commit_alone(self.bootstrap, self.application, dict.fromkeys(self.places, 1))

    @property
    def places(self) -> list[tuple[str, int]]:
        return [(topic, 0) for topic in self.read]

    def write(self, **configs: str) -> str:
        file = self.directory / "shop.py"
        file.write_text(_program(self.topic, self.application, configs))
        return str(file)

    def committed(self) -> set[int]:
        found = committed(self.bootstrap, self.application)
        assert found.keys() == set(self.places)
        return set(found.values())

    def topics(self) -> set[str]:
        with KafkaAdmin(bootstrap_servers=self.bootstrap) as admin:
            return {each.name for each in admin.list_topics() if each.name.startswith(f"{self.application}-")}


def _program(topic: str, application: str, configs: dict[str, str]) -> str:
    given = {name.replace("_", "."): value for name, value in configs.items()}
    return PROGRAM.format(topic=topic, application=application, configs=given)


@pytest.fixture
def shop(cli: Cli, penstock_broker: InProcessBroker, penstock_topic: str, produce: Produce) -> Iterator[Shop]:
    shop = Shop(cli, penstock_topic)
    for topic in shop.read:
        produce(topic, b"one", b"two", b"three")
    yield shop
    for topic in [
        each for each in penstock_broker.broker.image.topics if each.startswith(f"{penstock_topic}-")
    ]:
        penstock_broker.delete_topic(topic)


def test_by_its_file(cli: Cli, shop: Shop) -> None:
    said = cli.output("streams", "reset", shop.file)
    assert f"Reset-offsets for input topics [{', '.join(shop.read)}]" in said
    assert shop.committed() == {0}
    assert shop.topics() == set()


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (("--to-earliest",), 0),
        (("--to-latest",), 3),
        (("--to-offset", "2"), 2),
        (("--shift-by", "-1"), 0),
        (("--shift-by=1",), 2),
        (("--to-datetime", "2001-01-01T00:00:00.000"), 0),
        (("--by-duration", "PT0S"), 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_to_somewhere_else(cli: Cli, shop: Shop, scenario: tuple[str, ...], expected: int) -> None:
    cli.output("streams", "reset", shop.file, *scenario)
    assert shop.committed() == {expected}


def test_from_a_file(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text("".join(f"{topic},0,2\n" for topic in shop.read))
    cli.output("streams", "reset", shop.file, "--from-file", str(plan))
    assert shop.committed() == {2}


def test_dry_run(cli: Cli, shop: Shop) -> None:
    assert cli.output("streams", "reset", shop.file, "--dry-run").startswith("----Dry run")
    assert shop.committed() == {1}
    assert shop.topics() == shop.own_topics


def test_by_its_id(cli: Cli, shop: Shop) -> None:
    words = ("--input-topics", ",".join(shop.read), "--internal-topics", min(shop.own_topics))
    cli.output("streams", "reset", "--application-id", shop.application, *words)
    assert shop.committed() == {0}
    assert shop.topics() == {max(shop.own_topics)}


def test_the_servers_of_the_file(cli: Cli, shop: Shop) -> None:
    shop.write(bootstrap_servers="127.0.0.1:9", admin_default_api_timeout_ms="500")
    assert "127.0.0.1:9" in cli.refused("streams", "reset", shop.file)
    cli.output("streams", "reset", shop.file, "--bootstrap-server", cli.bootstrap_servers)
    assert shop.committed() == {0}


def test_settings_of_a_file(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    settings = tmp_path / "streams.properties"
    settings.write_text("bootstrap.servers=127.0.0.1:9\nadmin.default.api.timeout.ms=500\n")
    assert "127.0.0.1:9" in cli.refused("streams", "reset", shop.file, "--config", str(settings))


def test_a_program_that_runs(cli: Cli, shop: Shop) -> None:
    with member(cli.bootstrap_servers, shop.application, [shop.topic], partitions=1):
        assert "is still active" in cli.refused("streams", "reset", shop.file)
    assert shop.topics() == shop.own_topics


def test_topics_that_cannot_be_deleted(cli: Cli, shop: Shop, penstock_intercept: Interceptor) -> None:
    topic = min(shop.own_topics)
    penstock_intercept.answer("DeleteTopics", "TOPIC_AUTHORIZATION_FAILED", topic=topic)
    done = cli.run("streams", "reset", shop.file, "--internal-topics", topic)
    assert done.returncode == 1
    first, last = done.stderr.splitlines()
    assert first.startswith(f"ERROR: deleting topic {topic}: ")
    assert "TopicAuthorizationException" in first
    assert last == "ERROR: java.lang.RuntimeException: Encountered an error deleting one or more topics"


def test_members_that_cannot_be_sent_away(cli: Cli, shop: Shop, penstock_intercept: Interceptor) -> None:
    penstock_intercept.answer("LeaveGroup", "GROUP_AUTHORIZATION_FAILED")
    with member(cli.bootstrap_servers, shop.application, [shop.topic], partitions=1):
        said = cli.refused("streams", "reset", shop.file, "--force")
        penstock_intercept.clear()
    assert "GroupAuthorizationException" in said
    assert shop.committed() == {1}


def test_members_that_are_gone_by_themselves(cli: Cli, shop: Shop, penstock_intercept: Interceptor) -> None:
    """They are looked for again, four times."""
    unknown = MemberResponse("", "one", ErrorCode.UNKNOWN_MEMBER_ID)
    penstock_intercept.answer(
        "LeaveGroup", response=lambda request: LeaveGroupResponse(members=[unknown]), times=3
    )
    with member(cli.bootstrap_servers, shop.application, [shop.topic], partitions=1, group_instance_id="one"):
        pass
    said = cli.output("streams", "reset", shop.file, "--force")
    assert said.count("Force deleting all active members") == 4
    assert shop.committed() == {0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "takes the file of a program or --application-id"),
        (("shop.py", "--application-id", "shop"), "takes the file of a program or --application-id"),
        (("shop.py", "--input-topics", "lines"), "--input-topics goes with --application-id"),
        (("no-such-file.py",), "no-such-file.py: can't be read"),
        (("--application-id", "shop", "--config", "no-such-file"), "no-such-file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_words(cli: Cli, words: tuple[str, ...], said: str) -> None:
    assert said in cli.refused("streams", "reset", *words)


def test_two_places_at_once(cli: Cli) -> None:
    done = cli.run("streams", "reset", "shop.py", "--to-latest", "--to-offset", "3")
    assert done.returncode == 2
    assert "not allowed with argument --to-latest" in done.stderr
