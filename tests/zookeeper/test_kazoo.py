"""The server as kazoo sees it, over a socket: nodes, versions, watches, transactions, ACLs, sessions."""

import queue
import threading
from collections.abc import Callable

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import (
    BadVersionError,
    InvalidACLError,
    NoAuthError,
    NoChildrenForEphemeralsError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    RolledBackError,
    RuntimeInconsistency,
)
from kazoo.protocol.states import EventType, WatchedEvent
from kazoo.security import OPEN_ACL_UNSAFE, make_acl, make_digest_acl

from tests.zookeeper.running import WAIT_SECONDS

Connect = Callable[..., KazooClient]


def next_event(events: "queue.Queue[WatchedEvent]") -> tuple[str, str]:
    event = events.get(timeout=WAIT_SECONDS)
    return event.type, event.path


def test_create_get_set_delete(client: KazooClient) -> None:
    assert client.create("/a", b"one") == "/a"
    data, stat = client.get("/a")
    assert (data, stat.version, stat.dataLength, stat.numChildren) == (b"one", 0, 3, 0)
    assert stat.czxid == stat.mzxid == stat.pzxid
    changed = client.set("/a", b"three")
    assert (changed.version, changed.dataLength) == (1, 5)
    assert changed.mzxid > changed.czxid
    client.delete("/a")
    assert client.exists("/a") is None
    with pytest.raises(NoNodeError):
        client.get("/a")


def test_errors_of_writes(client: KazooClient) -> None:
    client.create("/a")
    with pytest.raises(NodeExistsError):
        client.create("/a")
    with pytest.raises(NoNodeError):
        client.create("/missing/child")
    client.create("/a/b")
    with pytest.raises(NotEmptyError):
        client.delete("/a")
    client.create("/e", ephemeral=True)
    with pytest.raises(NoChildrenForEphemeralsError):
        client.create("/e/child")


def test_versions_are_compared_and_set(client: KazooClient) -> None:
    client.create("/a")
    client.set("/a", b"1", version=0)
    with pytest.raises(BadVersionError):
        client.set("/a", b"2", version=0)
    with pytest.raises(BadVersionError):
        client.delete("/a", version=0)
    client.delete("/a", version=1)


def test_sequential_names_count_creations_and_never_come_back(client: KazooClient) -> None:
    client.create("/queue")
    assert client.create("/queue/item-", sequence=True) == "/queue/item-0000000000"
    assert client.create("/queue/item-", sequence=True) == "/queue/item-0000000001"
    client.delete("/queue/item-0000000001")
    assert client.create("/queue/", sequence=True) == "/queue/0000000002"
    assert client.get("/queue")[1].cversion == 4
    assert sorted(client.get_children("/queue")) == ["0000000002", "item-0000000000"]


def test_children_and_stat_of_a_parent(client: KazooClient) -> None:
    for name in ("b", "a", "c"):
        client.create(f"/parent/{name}", makepath=True)
    children, stat = client.get_children("/parent", include_data=True)
    assert sorted(children) == ["a", "b", "c"]
    assert (stat.numChildren, stat.cversion) == (3, 3)
    assert stat.pzxid == client.exists("/parent/c").czxid


def test_create_with_stat_and_large_data(client: KazooClient) -> None:
    data = b"x" * 900_000
    path, stat = client.create("/large", data, include_data=True)
    assert (path, stat.dataLength) == ("/large", len(data))
    assert client.get("/large")[0] == data


def test_ephemerals_go_with_their_session(connect: Connect, client: KazooClient) -> None:
    owner = connect()
    owner.create("/e", ephemeral=True)
    assert client.get("/e")[1].ephemeralOwner == owner.client_id[0]
    gone = threading.Event()
    client.exists("/e", watch=lambda _: gone.set())
    owner.stop()
    assert gone.wait(WAIT_SECONDS)
    assert client.exists("/e") is None


def test_one_shot_watches(client: KazooClient) -> None:
    events: queue.Queue[WatchedEvent] = queue.Queue()
    assert client.exists("/a", watch=events.put) is None
    client.create("/a")
    assert next_event(events) == (EventType.CREATED, "/a")
    client.get("/a", watch=events.put)
    client.get_children("/a", watch=events.put)
    client.set("/a", b"1")
    assert next_event(events) == (EventType.CHANGED, "/a")
    client.set("/a", b"2")
    client.create("/a/b")
    assert next_event(events) == (EventType.CHILD, "/a")
    client.create("/a/c")
    client.exists("/a/c", watch=events.put)
    client.delete("/a/c")
    assert next_event(events) == (EventType.DELETED, "/a/c")
    assert events.empty()


def test_a_watch_is_told_before_the_change_can_be_read(connect: Connect, client: KazooClient) -> None:
    """The event arrives ahead of the answer to a read that shows the change."""
    client.create("/a", b"0")
    writer = connect()
    for number in range(1, 50):
        seen = threading.Event()
        client.get("/a", watch=lambda _, seen=seen: seen.set())
        pending = writer.set_async("/a", str(number).encode())
        while client.get("/a")[0] != str(number).encode():
            pass
        pending.get(timeout=WAIT_SECONDS)
        assert seen.wait(WAIT_SECONDS)


def test_transactions_are_all_or_nothing(client: KazooClient) -> None:
    client.create("/a", b"0")
    transaction = client.transaction()
    transaction.check("/a", 0)
    transaction.create("/a/b", b"new")
    transaction.set_data("/a", b"1")
    transaction.create("/a/s-", sequence=True)
    transaction.delete("/a/b")
    results = transaction.commit()
    assert results[0] is True
    assert results[1] == "/a/b"
    assert results[2].version == 1
    assert results[3] == "/a/s-0000000001"
    assert client.get_children("/a") == ["s-0000000001"]


def test_a_failed_transaction_changes_nothing(client: KazooClient) -> None:
    client.create("/a", b"0")
    before = client.exists("/a")
    transaction = client.transaction()
    transaction.create("/a/b")
    transaction.set_data("/a", b"1")
    transaction.check("/a", 7)
    transaction.delete("/a/b")
    results = transaction.commit()
    assert [type(result) for result in results] == [
        RolledBackError,
        RolledBackError,
        BadVersionError,
        RuntimeInconsistency,
    ]
    assert client.exists("/a") == before
    assert client.get_children("/a") == []


def test_a_transaction_keeps_its_place_among_other_requests(client: KazooClient) -> None:
    client.create("/a", b"0")
    transaction = client.transaction()
    transaction.set_data("/a", b"1")
    first, second, third = client.set_async("/a", b"x"), transaction.commit_async(), client.get_async("/a")
    assert first.get().version == 1
    assert second.get()[0].version == 2
    assert third.get()[0] == b"1"


def test_digest_acl(connect: Connect, client: KazooClient) -> None:
    secret = make_digest_acl("alice", "secret", all=True)
    client.create("/secret", b"hidden", acl=[secret])
    with pytest.raises(NoAuthError):
        client.get("/secret")
    client.add_auth("digest", "alice:secret")
    assert client.get("/secret")[0] == b"hidden"
    stranger = connect()
    stranger.add_auth("digest", "alice:guess")
    for refused in (
        lambda: stranger.get("/secret"),
        lambda: stranger.exists("/secret"),
        lambda: stranger.set("/secret", b""),
        lambda: stranger.create("/secret/child"),
        lambda: stranger.get_children("/secret"),
        lambda: stranger.set_acls("/secret", OPEN_ACL_UNSAFE),
        lambda: stranger.get_acls("/secret"),
    ):
        with pytest.raises(NoAuthError):
            refused()


def test_auth_scheme_stands_for_the_caller(client: KazooClient) -> None:
    own = make_acl("auth", "", read=True, admin=True)
    with pytest.raises(InvalidACLError):
        client.create("/own", acl=[own])
    client.add_auth("digest", "bob:secret")
    client.create("/own", acl=[own])
    acls, stat = client.get_acls("/own")
    assert [acl.id.scheme for acl in acls] == ["digest"]
    assert acls[0].id.id.startswith("bob:")
    with pytest.raises(NoAuthError):
        client.set("/own", b"not permitted")
    assert client.set_acls("/own", OPEN_ACL_UNSAFE, version=stat.aversion).aversion == stat.aversion + 1
    with pytest.raises(BadVersionError):
        client.set_acls("/own", OPEN_ACL_UNSAFE, version=0)


def test_deleting_needs_the_right_on_the_parent(connect: Connect, client: KazooClient) -> None:
    reader = make_acl("world", "anyone", read=True)
    client.add_auth("digest", "carol:secret")
    client.create("/parent", acl=[make_digest_acl("carol", "secret", all=True), reader])
    client.create("/parent/child")
    stranger = connect()
    with pytest.raises(NoAuthError):
        stranger.delete("/parent/child")
    assert [acl.id.id for acl in stranger.get_acls("/parent")[0]] == ["carol:x", "anyone"]
    client.delete("/parent/child")


def test_bad_acls_are_refused(client: KazooClient) -> None:
    for acl in (make_acl("world", "somebody", all=True), make_acl("nonsense", "x", all=True)):
        with pytest.raises(InvalidACLError):
            client.create("/a", acl=[acl])
