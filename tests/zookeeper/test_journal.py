"""The journal and snapshots on disk: torn at every byte, with flipped bits, and over many restarts."""

import asyncio
from pathlib import Path

import pytest

from penstock.errors import StorageError
from penstock.zookeeper import ZooKeeperConfig, ZooKeeperServer
from penstock.zookeeper.acl import OPEN_ACL, Acl, Identity
from penstock.zookeeper.journal import JournalContent, journal_files
from penstock.zookeeper.snapshot import Snapshot, snapshot_files, write_snapshot
from penstock.zookeeper.storage import Storage
from penstock.zookeeper.tree import Tree
from penstock.zookeeper.txn import CreateSessionTxn, CreateTxn, SetDataTxn, Txn, TxnRecord, encode_record
from tests.zookeeper.raw_client import RawClient
from tests.zookeeper.running import ServerThread

BATCHES: list[list[Txn]] = [
    [CreateSessionTxn(5, 4000, b"p" * 16), CreateTxn("/a", b"one", OPEN_ACL, 0)],
    [CreateTxn("/a/b", None, (Acl(31, Identity("digest", "u:h")),), 5)],
    [SetDataTxn("/a", b"two", 1), CreateTxn("/a/c", b"\xf5ZKJ", OPEN_ACL, 0)],
]


def write_batches(data_dir: Path, batches: list[list[Txn]] = BATCHES) -> list[dict[str, object]]:
    """Writes batches and returns the nodes after each of them, the empty beginning first."""
    storage = Storage(data_dir)
    tree = storage.open()
    states: list[dict[str, object]] = [dict(tree.nodes)]
    for batch in batches:
        records = [TxnRecord(tree.last_zxid + 1 + i, 1000, txn) for i, txn in enumerate(batch)]
        for record in records:
            tree.replay(record)
        storage.append([encode_record(record) for record in records])
        states.append(dict(tree.nodes))
    storage.close()
    return states


def directory(data_dir: Path) -> Path:
    return data_dir / "penstock-zookeeper"


def reopen(data_dir: Path) -> Tree:
    storage = Storage(data_dir)
    tree = storage.open()
    storage.close()
    return tree


def frame_ends(path: Path) -> list[int]:
    content = JournalContent(path)
    return [16, *(end for end, _ in content._frames())]


def test_a_restart_brings_everything_back(tmp_path: Path) -> None:
    states = write_batches(tmp_path)
    tree = reopen(tmp_path)
    assert tree.nodes == states[-1]
    assert tree.last_zxid == 5
    assert tree.sessions[5].password == b"p" * 16
    assert tree.ephemerals(5) == ["/a/b"]


def test_a_torn_tail_is_cut_off_wherever_it_is_torn(tmp_path: Path) -> None:
    states = write_batches(tmp_path)
    path = journal_files(directory(tmp_path))[0]
    whole, ends = path.read_bytes(), frame_ends(path)
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        complete = sum(end <= size for end in ends) - 1
        tree = reopen(tmp_path)
        assert tree.nodes == states[max(complete, 0)], size
    assert path.read_bytes() == whole


def test_writing_goes_on_after_a_torn_tail(tmp_path: Path) -> None:
    write_batches(tmp_path)
    path = journal_files(directory(tmp_path))[0]
    path.write_bytes(path.read_bytes()[:-1])
    states = write_batches(tmp_path, [[CreateTxn("/later", b"", OPEN_ACL, 0)]])
    assert reopen(tmp_path).nodes == states[-1]
    assert "/later" in states[-1]
    assert "/a/c" not in states[-1]


def test_flipped_bits_are_noticed(tmp_path: Path) -> None:
    """In the last frame they look like a torn tail; before it, answered transactions would be lost."""
    states = write_batches(tmp_path)
    path = journal_files(directory(tmp_path))[0]
    whole, ends = path.read_bytes(), frame_ends(path)
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        if ends[-2] <= position:
            assert reopen(tmp_path).nodes == states[-2]
        elif not 8 <= position < 16:  # all checksums hang on the salt
            with pytest.raises(StorageError):
                reopen(tmp_path)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    directory(tmp_path).mkdir()
    (directory(tmp_path) / "journal.0000000000000001").write_bytes(b"something else")
    with pytest.raises(StorageError, match="not a journal"):
        reopen(tmp_path)


def test_a_missing_journal_is_noticed(tmp_path: Path) -> None:
    write_batches(tmp_path)
    path = journal_files(directory(tmp_path))[0]
    storage = Storage(tmp_path)
    storage.open()
    storage.begin_snapshot(6)
    storage.append([encode_record(TxnRecord(6, 1000, CreateTxn("/d", b"", OPEN_ACL, 0)))])
    storage.close()
    assert reopen(tmp_path).last_zxid == 6
    path.unlink()
    with pytest.raises(StorageError, match="missing"):
        reopen(tmp_path)


def test_a_snapshot_replaces_older_files(tmp_path: Path) -> None:
    states = write_batches(tmp_path)
    storage = Storage(tmp_path)
    tree = storage.open()
    storage.begin_snapshot(tree.last_zxid + 1)
    storage.write_snapshot(Snapshot.of(tree))
    storage.append([encode_record(TxnRecord(6, 1000, CreateTxn("/d", b"", OPEN_ACL, 0)))])
    storage.close()
    assert [path.name for path in journal_files(directory(tmp_path))] == ["journal.0000000000000006"]
    restored = reopen(tmp_path)
    assert restored.last_zxid == 6
    assert restored.last_session_id == 5
    assert restored.nodes.keys() == states[-1].keys() | {"/d"}
    assert restored.nodes["/a/b"] == states[-1]["/a/b"]
    assert restored.ephemerals(5) == ["/a/b"]
    assert restored.children("/a") == ["b", "c"]


def test_a_damaged_snapshot_is_refused(tmp_path: Path) -> None:
    write_batches(tmp_path)
    path = write_snapshot(directory(tmp_path), Snapshot.of(reopen(tmp_path)))
    whole = path.read_bytes()
    for position in range(0, len(whole), 13):
        damaged = bytearray(whole)
        damaged[position] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(StorageError, match="damaged"):
            reopen(tmp_path)


def test_an_unfinished_snapshot_is_ignored(tmp_path: Path) -> None:
    states = write_batches(tmp_path)
    (directory(tmp_path) / "snapshot.0000000000000005.tmp").write_bytes(b"half")
    assert reopen(tmp_path).nodes == states[-1]
    assert snapshot_files(directory(tmp_path)) == []


def test_two_servers_do_not_share_a_directory(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.open()
    with pytest.raises(StorageError, match="in use"):
        reopen(tmp_path)
    storage.close()
    reopen(tmp_path)


@pytest.mark.parametrize("force_sync", [True, False])
def test_a_server_takes_snapshots_as_it_goes(tmp_path: Path, force_sync: bool) -> None:
    settings = {"client_port": 0, "data_dir": tmp_path, "snap_count": 20, "force_sync": force_sync}
    server = ServerThread(ZooKeeperConfig(**settings))
    with RawClient(server.address) as client:
        client.connect()
        for number in range(110):
            assert client.create(f"/n{number}").error == 0
    server.stop()
    assert len(snapshot_files(directory(tmp_path))) == 1
    assert len(journal_files(directory(tmp_path))) <= 2
    tree = reopen(tmp_path)
    assert {f"/n{number}" for number in range(110)} <= tree.nodes.keys()


def test_a_failing_disk_stops_the_server_without_an_answer(tmp_path: Path) -> None:
    server = ServerThread(ZooKeeperConfig(client_port=0, data_dir=tmp_path))
    with RawClient(server.address) as client:
        client.connect()
        journal = server.server._storage._journal  # type: ignore[union-attr]
        journal.close()  # type: ignore[union-attr]
        client.send(
            1, b"\0\0\0\x02/a\0\0\0\0" + b"\0\0\0\x01\0\0\0\x1f\0\0\0\x05world\0\0\0\x06anyone\0\0\0\0"
        )
        assert client.is_closed()
    assert isinstance(server.server.failure.result(), StorageError)
    server.stop()
    assert "/a" not in reopen(tmp_path).nodes


def test_a_server_in_memory_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def start_and_stop() -> None:
        server = ZooKeeperServer(ZooKeeperConfig(client_port=0))
        await server.start()
        assert server.port > 0
        await server.stop()
        await server.stop()

    asyncio.run(start_and_stop())
    assert list(tmp_path.iterdir()) == []
