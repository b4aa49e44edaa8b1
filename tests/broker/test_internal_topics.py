"""Which partition of an internal topic a key belongs to (the hashes are what Java's `String.hashCode` says), and how
many replicas there have to be."""

import pytest

from penstock.broker.internal_topics import partition_for
from penstock.errors import ErrorCode
from penstock.java_hash import java_hash
from penstock.testing import InProcessBroker
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.support.wire_client import WireClient


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("consumers", -421004483),
        ("polygenelubricants", -(1 << 31)),
        ("\U0001f600", 1772899),
    ],
)
def test_java_hash(key: str, code: int) -> None:
    assert java_hash(key) == code


def test_partition_for() -> None:
    assert partition_for("hello", 50) == 22
    assert partition_for("consumers", 50) == 33
    assert partition_for("polygenelubricants", 50) == 0


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    ("key_type", "setting", "topic"),
    [
        (0, "offsets.topic.replication.factor", "__consumer_offsets"),
        (1, "transaction.state.log.replication.factor", "__transaction_state"),
    ],
)
def test_a_topic_of_fewer_replicas_than_were_asked_for_is_not_made(
    key_type: int, setting: str, topic: str, version: int
) -> None:
    with InProcessBroker({setting: "3"}) as broker, WireClient(broker.bootstrap_servers) as client:
        request = FindCoordinatorRequest(key="k", key_type=key_type, coordinator_keys=["k"])
        said = client.send(request, version)
        found = said.coordinators[0] if version == 4 else said
        assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert found.error_message == (
            f"the topic {topic} can't be created: {setting}=3, but 1 broker is there to have replicas"
        )
