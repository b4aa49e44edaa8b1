"""What many clients, or one that asks much at once, take from the others: nothing that these notice."""

import os
import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from penstock.broker.router import RESERVED_DESCRIPTORS
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.asking import metadata, new_topic
from tests.broker.conftest import only_penstock
from tests.broker.platform import Platform
from tests.support.bystander import standing_by
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient, request_bytes

pytestmark = [pytest.mark.processes, only_penstock]

LIMIT = 300
MANY = 3250
LONGEST_WAIT_SECONDS = 0.25


def is_open(connected: socket.socket) -> bool:
    """Whether the broker has kept the connection; it says nothing on its own."""
    connected.setblocking(False)
    try:
        return connected.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    finally:
        connected.setblocking(True)


def descriptors(platform: Platform) -> int:
    return len(os.listdir(Path("/proc", str(platform.broker.pid), "fd")))


def test_a_rush_of_clients_leaves_descriptors_to_the_broker(tmp_path: Path) -> None:
    with Platform(tmp_path / "platform") as platform:
        resource.prlimit(platform.broker.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
        with ExitStack() as rush, WireClient(platform.bootstrap) as early:
            clients = [
                rush.enter_context(socket.create_connection(("127.0.0.1", platform.port), 30))
                for _ in range(LIMIT)
            ]
            most = LIMIT - RESERVED_DESCRIPTORS
            wait_for(lambda: descriptors(platform) <= most, what="those beyond the limit to be refused")
            wait_for(
                lambda: 0 < sum(map(is_open, clients)) < most, what="those that are too many to be refused"
            )
            assert platform.zookeeper.stop() == 0
            platform.start_zookeeper()
            new_topic(early, "created-in-the-rush")
        wait_for(lambda: descriptors(platform) < LIMIT // 2, what="the clients to be gone")
        with WireClient(platform.bootstrap) as late:
            assert metadata(late).brokers
        told = [line for line in platform.broker.log_text().splitlines() if "descriptors" in line]
        assert len(told) == 1
        assert "Traceback" not in platform.broker.log_text()


def ask_often(bootstrap: str, topic: str) -> list[int]:
    """Sends many requests in one write; the correlation ids as they come back."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    with WireClient(bootstrap) as client:
        client.send_bytes(b"".join(request_bytes(request, 12, number) for number in range(MANY)))
        return [int.from_bytes(client.receive_frame()[:4]) for _ in range(MANY)]


def test_many_requests_in_one_write_stall_nobody_else(tmp_path: Path) -> None:
    with Platform(tmp_path / "platform") as platform:
        with WireClient(platform.bootstrap) as client:
            new_topic(client, "small")
            topic = new_topic(client, "large", 1000)
        with standing_by(platform.bootstrap, platform.broker.pid, "small") as waits:
            assert ask_often(platform.bootstrap, topic) == list(range(MANY)), "answered in order"
    assert waits.asked > 100
    assert waits.broker < LONGEST_WAIT_SECONDS, "what it waited for the broker, not for a processor"
