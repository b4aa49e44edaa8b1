"""`KafkaAdmin` and `AsyncKafkaAdmin`: the same calls, one blocking and one awaited, which raise what failed."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from penstock.client.admin.acls import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    AclResourceType,
    ResourcePattern,
)
from penstock.client.admin.faces import AsyncKafkaAdmin, KafkaAdmin
from penstock.client.admin.list_offsets import OffsetSpec
from penstock.client.admin.quotas import QuotaFilter
from penstock.client.admin.topic_changes import NewTopic
from penstock.errors import ConfigError, ErrorCode
from penstock.testing import InProcessBroker
from penstock.types import TopicPartition
from penstock.wire_client.errors import AuthorizationError, BrokerUnreachableError, KafkaError, RetriableError
from tests.support.apache_kafka import ApacheKafka, require_java
from tests.support.processes import free_port, wait_for
from tools.suite.processes import starts_processes

Do = Callable[..., Any]
AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
JOE = {
    "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{PLAIN_LOGIN} required user_joe="secret";',
}
"""A user that may do nothing."""


class Secured(NamedTuple):
    plaintext: str
    sasl: str


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as broker:
        yield broker


def admin_calls(is_blocking: bool, bootstrap: str) -> Do:
    """`do("create_topic", "x")` in one colour or the other."""

    def blocking(name: str, *arguments: Any, **keywords: Any) -> Any:
        with KafkaAdmin(bootstrap_servers=bootstrap) as admin:
            return getattr(admin, name)(*arguments, **keywords)

    def awaited(name: str, *arguments: Any, **keywords: Any) -> Any:
        async def call() -> Any:
            async with AsyncKafkaAdmin(bootstrap_servers=bootstrap) as admin:
                return await getattr(admin, name)(*arguments, **keywords)

        return asyncio.run(call())

    return blocking if is_blocking else awaited


@pytest.fixture(params=["blocking", "awaited"])
def do(request: pytest.FixtureRequest, broker: InProcessBroker) -> Do:
    return admin_calls(request.param == "blocking", broker.bootstrap_servers)


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)


def test_both_have_the_same_calls() -> None:
    def calls(cls: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")}

    assert calls(KafkaAdmin) == calls(AsyncKafkaAdmin)
    assert len(calls(KafkaAdmin)) > 30


def test_life_of_a_topic(do: Do, topic: str) -> None:
    assert do("create_topic", topic, partitions=2, configs={"retention.ms": "1000"}).num_partitions == 2
    assert topic in [each.name for each in do("list_topics")]
    assert len(do("describe_topics", [topic])[topic].partitions) == 2
    assert do("describe_configs", "topic", topic)["retention.ms"].value == "1000"
    do("alter_configs", "topic", topic, {"retention.ms": 2000, "preallocate": True})
    assert do("describe_configs", "topic", topic)["preallocate"].value == "true"
    do("alter_configs", "topic", topic, delete=["retention.ms"])
    assert do("describe_configs", "topic", topic)["retention.ms"].value == "604800000"
    do("add_partitions", topic, 5)
    assert len(do("describe_topics", [topic])[topic].partitions) == 5
    do("delete_topics", [topic])
    assert topic not in [each.name for each in do("list_topics")]


def test_what_fails_is_raised_with_its_name(do: Do, topic: str) -> None:
    do("create_topic", topic)
    with pytest.raises(KafkaError, match=f"Topic '{topic}' already exists") as caught:
        do("create_topic", topic)
    assert caught.value.code is ErrorCode.TOPIC_ALREADY_EXISTS
    with pytest.raises(RetriableError, match=r"missing.*\(1 more failed as well\)"):
        do("delete_topics", ["missing-1", "missing-2"])
    with pytest.raises(KafkaError, match=r"retention\.ms"):
        do("alter_configs", "topic", topic, {"retention.ms": "soon"})
    with pytest.raises(ValueError, match="kind of resource: got 'planet', takes"):
        do("describe_configs", "planet", "mars")


def test_some_of_several(do: Do, topic: str) -> None:
    """Those that can be created are, also if another cannot."""
    do("create_topic", f"{topic}-1")
    with pytest.raises(KafkaError, match=f"{topic}-1"):
        do("create_topics", [NewTopic(f"{topic}-1"), NewTopic(f"{topic}-2")])
    assert f"{topic}-2" in [each.name for each in do("list_topics")]


def test_offsets(do: Do, topic: str) -> None:
    do("create_topic", topic)
    partition = TopicPartition(topic, 0)
    assert do("list_offsets", {partition: OffsetSpec.LATEST})[partition].offset == 0
    assert do("delete_records", {partition: -1}) == {partition: 0}
    do("alter_group_offsets", topic, {partition: 0})
    assert do("committed_offsets", topic)[partition].offset == 0
    assert topic in [group.group_id for group in do("list_groups")]
    do("delete_group_offsets", topic, [partition])
    assert do("committed_offsets", topic, [partition]) == {partition: None}
    do("delete_groups", [topic])
    with pytest.raises(KafkaError, match=f"{topic}: The group id does not exist"):
        do("delete_groups", [topic])


def test_the_cluster(do: Do) -> None:
    assert len(do("describe_cluster").nodes) == 1
    (directories,) = do("describe_log_dirs").values()
    assert all(not directory.error for directory in directories.values())
    assert "group.version" in do("describe_features").levels
    assert do("list_transactions") == []


def test_wrong_settings() -> None:
    with pytest.raises(ConfigError, match="bootstrap"):
        KafkaAdmin(bootstrap_server="localhost:9092")  # type: ignore[call-arg]


def test_several_threads_share_one(broker: InProcessBroker) -> None:
    """Answers go to those who asked."""
    wrong: list[str] = []
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:

        def create(name: str) -> None:
            for number in range(10):
                created = admin.create_topic(f"{name}-{number}")
                if created.name != f"{name}-{number}":
                    wrong.append(created.name)

        threads = [threading.Thread(target=create, args=(f"thread-{index}",)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


# Security: on Apache Kafka, which has an authorizer.


@pytest.fixture(scope="module")
@starts_processes
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    require_java()
    server = ApacheKafka(tmp_path_factory.mktemp("apache"), {**AUTHORIZER, "super.users": "User:ANONYMOUS"})
    sasl = f"127.0.0.1:{free_port()}"
    server.settings["listeners"] += f",SASL_PLAINTEXT://{sasl}"
    server.settings["advertised.listeners"] += f",SASL_PLAINTEXT://{sasl}"
    server.settings["listener.security.protocol.map"] += ",SASL_PLAINTEXT:SASL_PLAINTEXT"
    server.settings |= JOE
    with server:
        yield Secured(server.bootstrap, sasl)


@pytest.fixture(params=["blocking", "awaited"])
def do_there(request: pytest.FixtureRequest, apache: Secured) -> Do:
    return admin_calls(request.param == "blocking", apache.plaintext)


def test_acls(do_there: Do, topic: str) -> None:
    entry = AccessControlEntry("User:ann", "*", AclOperation.READ, AclPermissionType.ALLOW)
    binding = AclBinding(ResourcePattern(AclResourceType.TOPIC, topic), entry)
    do_there("create_acls", [binding])
    wait_for(lambda: binding in do_there("list_acls"), what="the entry")
    assert do_there("delete_acls", [binding]) == [binding]
    wait_for(lambda: binding not in do_there("list_acls"), what="the entry's end")


def test_users(do_there: Do, topic: str) -> None:
    do_there("upsert_user", topic, "secret")
    wait_for(lambda: topic in do_there("list_users"), what="the user")
    do_there("delete_user", topic)
    wait_for(lambda: topic not in do_there("list_users"), what="the user's end")
    with pytest.raises(KafkaError, match=topic):
        do_there("delete_user", topic)


def test_quotas(do_there: Do, topic: str) -> None:
    do_there("alter_quotas", {"user": topic}, {"producer_byte_rate": 1000.0})

    def found() -> list[dict[str, float]]:
        return list(do_there("list_quotas", [QuotaFilter("user", topic)]).values())

    wait_for(lambda: found() == [{"producer_byte_rate": 1000.0}], what="the quota")
    do_there("alter_quotas", {"user": topic}, {"producer_byte_rate": None})
    wait_for(lambda: not found(), what="the quota's end")


def test_no_permission(apache: Secured) -> None:
    joe = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    login = {"sasl.username": "joe", "sasl.password": "secret", "bootstrap.servers": apache.sasl}
    with (
        KafkaAdmin({**joe, **login}) as admin,
        pytest.raises(AuthorizationError, match="Authorization failed"),
    ):
        admin.create_topic("forbidden")


def test_a_broker_that_is_not_there_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    address = f"127.0.0.1:{free_port()}"
    impatient = KafkaAdmin(bootstrap_servers=address, default_api_timeout_ms=1_500)
    with impatient as admin, pytest.raises(BrokerUnreachableError) as raised:
        admin.list_topics()
    line = f"{address} (bootstrap.servers) cannot be reached: Connection refused; is `penstock up` running?"
    assert str(raised.value) == line
    assert caplog.messages == [line]


@pytest.mark.parametrize("face", [KafkaAdmin, AsyncKafkaAdmin])
def test_help_shows_methods(face: type[Any]) -> None:
    """What they are called with, not the functions that they are made of."""
    for name, method in inspect.getmembers(face, inspect.isfunction):
        first, *others = inspect.signature(method).parameters.values()
        assert (first.name, first.annotation) == ("self", inspect.Parameter.empty), name
        assert "self" not in [each.name for each in others], name
        assert "cluster: " not in pydoc.plain(pydoc.render_doc(method)), name
    assert list(inspect.signature(face.create_topic).parameters)[:3] == ["self", "name", "partitions"]
