"""Which partition of an internal topic a key belongs to; the hashes are what Java's `String.hashCode` says. And what
there is of such a topic while there are too few brokers."""

import base64

import pytest

from penstock.broker.internal_topics import partition_for
from penstock.errors import ErrorCode
from penstock.java_hash import java_hash
from penstock.testing import InProcessBroker
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.metadata import MetadataRequest
from tests.broker.conftest import only_penstock
from tests.support.wire_client import WireClient

GROUP, TRANSACTION, SHARE = 0, 1, 2
FACTORS = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")


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


@only_penstock
def test_there_is_no_coordinator_while_there_are_too_few_brokers(caplog: pytest.LogCaptureFixture) -> None:
    """Never a topic with fewer replicas than were asked for, and never silence."""
    share_key = f"g:{base64.urlsafe_b64encode(bytes(15) + b'1').decode().rstrip('=')}:0"
    asked = {GROUP: "g", TRANSACTION: "t", SHARE: share_key}
    settings = {f"{name}.replication.factor": "3" for name in FACTORS}
    with InProcessBroker(settings) as broker, WireClient(broker.bootstrap_servers) as client:
        for kind, key in asked.items():
            for _ in range(2):
                (found,) = client.send(
                    FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
                ).coordinators
                assert (found.error_code, found.node_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1)
                assert "replication.factor is 3; brokers that can have replicas: 1" in found.error_message
        assert not client.send(MetadataRequest(topics=None)).topics
    told = [record.message for record in caplog.records if "no coordinator" in record.message]
    assert len(told) == 3
    for name, line in zip(FACTORS, told, strict=True):
        assert line.endswith(f"{name}.replication.factor is 3; brokers that can have replicas: 1")
