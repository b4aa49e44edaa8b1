"""What a client may hear, and when: nothing of a write before it is on disk; many writes for one sync."""

import time
from collections.abc import Callable

import pytest

from penstock.zookeeper.journal import JournalContent, journal_files
from penstock.zookeeper.storage import Storage
from tests.zookeeper.raw_client import RawClient, create_body, text
from tests.zookeeper.running import WAIT_SECONDS, ServerThread

CREATE, EXISTS = 1, 3


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_nobody_hears_of_a_write_before_it_is_durable(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is held up until a read of the written node and a watch on it are due; neither was told by then."""
    statistics, original = server.server._statistics, Storage.append
    sent_before_durable: list[int] = []
    with RawClient(server.address) as writer, RawClient(server.address) as reader:
        writer.connect()
        assert not reader.connect().exists("/a", watch=True)
        received, sent = statistics.packets_received, statistics.packets_sent

        def held_up(storage: Storage, records: list[bytes]) -> None:
            wait_until(lambda: statistics.packets_received >= received + 3)
            sent_before_durable.append(statistics.packets_sent)
            original(storage, records)

        monkeypatch.setattr(Storage, "append", held_up)
        writer.send(CREATE, create_body("/a"))
        wait_until(lambda: statistics.packets_received > received)
        writer.send(EXISTS, text("/a") + b"\0")
        reader.send(EXISTS, text("/a") + b"\0")
        assert [writer.receive().error, writer.receive().error] == [0, 0]
        assert reader.receive().xid == -1
        assert reader.receive().error == 0
    assert sent_before_durable == [sent]


def test_pipelined_writes_share_a_sync(server: ServerThread) -> None:
    with RawClient(server.address) as client:
        client.connect()
        client.send_bytes(b"".join(client.request_frame(CREATE, create_body(f"/n{i}")) for i in range(500)))
        assert [client.receive().error for _ in range(500)] == [0] * 500
    data_dir = server.server.config.data_dir
    assert data_dir is not None
    server.stop()
    content = JournalContent(journal_files(data_dir / "penstock-zookeeper")[0])
    assert len(content.records) == 501
    assert len(list(content._frames())) <= 100
