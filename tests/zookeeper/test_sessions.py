"""Sessions over a socket: negotiated, expiring, resumed on another connection and after a restart."""

import queue
from collections.abc import Callable

import pytest
from kazoo.client import KazooClient, KazooState

from penstock.zookeeper.sessions import Sessions, first_session_id, negotiate_timeout
from penstock.zookeeper.tree import SessionRecord
from tests.zookeeper.raw_client import RawClient, text
from tests.zookeeper.running import WAIT_SECONDS, ServerThread, kazoo_client

EPHEMERAL = 1
CLOSE_SESSION = -11
PING = 11
StartServer = Callable[..., ServerThread]


def wait_until_gone(client: RawClient, path: str) -> None:
    """Waits for the deletion of a node through a watch, pinging meanwhile."""
    if not client.exists(path, watch=True):
        return
    while True:
        reply = client.call(PING, xid=-2)
        if reply.xid == -1:
            assert client.receive().xid == -2
            return


def test_timeouts_are_negotiated(start_server: StartServer) -> None:
    server = start_server(min_session_timeout_ms=-1)
    with (
        RawClient(server.address) as short,
        RawClient(server.address) as fit,
        RawClient(server.address) as long,
    ):
        assert short.connect(timeout_ms=1).timeout_ms == 4000
        assert fit.connect(timeout_ms=5000).timeout_ms == 5000
        assert long.connect(timeout_ms=10_000_000).timeout_ms == 40_000


def test_a_silent_session_expires_with_its_ephemerals(server: ServerThread) -> None:
    with RawClient(server.address) as silent, RawClient(server.address) as watcher:
        silent.connect(timeout_ms=200)
        silent.create("/e", flags=EPHEMERAL)
        wait_until_gone(watcher.connect(), "/e")
        assert silent.is_closed()
    with RawClient(server.address) as late:
        late.connect(session_id=silent.session_id, password=silent.password)
        assert (late.session_id, late.timeout_ms, late.password) == (0, 0, bytes(16))
        assert late.is_closed()


def test_pings_keep_a_session(server: ServerThread) -> None:
    with RawClient(server.address) as pinging, RawClient(server.address) as silent:
        pinging.connect(timeout_ms=400).create("/kept", flags=EPHEMERAL)
        for number in range(3):
            silent = RawClient(server.address).connect(timeout_ms=200)
            silent.create(f"/e{number}", flags=EPHEMERAL)
            wait_until_gone(pinging, f"/e{number}")
            silent.close()
        assert pinging.exists("/kept")


def test_a_session_moves_to_a_new_connection(server: ServerThread) -> None:
    with RawClient(server.address) as first, RawClient(server.address) as second:
        first.connect().create("/e", flags=EPHEMERAL)
        second.connect(session_id=first.session_id, password=first.password)
        assert second.session_id == first.session_id
        assert first.is_closed()
        assert second.exists("/e")
        assert second.call(CLOSE_SESSION).error == 0
        assert second.is_closed()
    with RawClient(server.address) as other:
        assert not other.connect().exists("/e")


def test_a_wrong_password_does_not_resume_a_session(server: ServerThread) -> None:
    with RawClient(server.address) as owner, RawClient(server.address) as thief:
        owner.connect().create("/e", flags=EPHEMERAL)
        thief.connect(session_id=owner.session_id, password=b"x" * 16)
        assert thief.session_id == 0
        assert thief.is_closed()
        assert owner.exists("/e")


def test_a_client_from_the_future_is_refused(server: ServerThread) -> None:
    """It has seen more than this server knows, so it must not be told an older truth."""
    with RawClient(server.address) as client, pytest.raises((EOFError, ConnectionResetError)):
        client.connect(zxid=1_000_000)


def test_a_session_survives_a_restart(start_server: StartServer) -> None:
    server = start_server()
    with RawClient(server.address) as before:
        before.connect().create("/e", flags=EPHEMERAL)
        server.stop()
        assert before.is_closed()
    server = start_server()
    with RawClient(server.address) as after, RawClient(server.address) as other:
        other.connect()
        assert other.session_id != before.session_id
        assert other.exists("/e")
        after.connect(session_id=before.session_id, password=before.password)
        assert after.session_id == before.session_id
        assert after.call(CLOSE_SESSION).error == 0
        assert not other.exists("/e")


def test_a_session_that_does_not_come_back_after_a_restart_expires(start_server: StartServer) -> None:
    server = start_server()
    with RawClient(server.address) as before:
        before.connect(timeout_ms=300).create("/e", flags=EPHEMERAL)
        server.stop()
    server = start_server()
    with RawClient(server.address) as other:
        wait_until_gone(other.connect(), "/e")


def test_kazoo_resumes_its_session_and_its_data_watch_over_a_restart(start_server: StartServer) -> None:
    server = start_server()
    port = server.server.port
    seen: queue.Queue[bytes] = queue.Queue()
    states: queue.Queue[str] = queue.Queue()
    with kazoo_client(server.address) as client:
        client.create("/e", ephemeral=True)
        client.create("/changed", b"0")
        client.DataWatch("/changed", lambda data, _: seen.put(data))
        assert seen.get(timeout=WAIT_SECONDS) == b"0"
        session = client.client_id
        client.add_listener(states.put)
        server.stop()
        assert states.get(timeout=WAIT_SECONDS) == KazooState.SUSPENDED
        change_while_away(start_server)
        start_server(client_port=port)
        assert states.get(timeout=WAIT_SECONDS) == KazooState.CONNECTED
        assert seen.get(timeout=WAIT_SECONDS) == b"1"
        assert client.client_id == session
        assert client.exists("/e").ephemeralOwner == session[0]
        client.set("/changed", b"2")
        assert seen.get(timeout=WAIT_SECONDS) == b"2"


def change_while_away(start_server: StartServer) -> None:
    """Changes a node on another port, where the client does not look for its server."""
    elsewhere = start_server()
    with RawClient(elsewhere.address) as other:
        assert other.connect().call(5, text("/changed") + b"\0\0\0\x011" + b"\xff" * 4).error == 0
    elsewhere.stop()


def test_kazoo_learns_that_its_session_is_lost(start_server: StartServer) -> None:
    server = start_server()
    port = server.server.port
    states: queue.Queue[str] = queue.Queue()
    with kazoo_client(server.address, timeout=0.5) as client:
        client.create("/e", ephemeral=True)
        lost = client.client_id
        client.add_listener(states.put)
        server.stop()
        elsewhere = start_server()
        with RawClient(elsewhere.address) as other:
            wait_until_gone(other.connect(), "/e")
        elsewhere.stop()
        start_server(client_port=port)
        seen = [states.get(timeout=WAIT_SECONDS) for _ in range(3)]
        assert seen == [KazooState.SUSPENDED, KazooState.LOST, KazooState.CONNECTED]
        assert client.client_id[0] != lost[0]
        assert client.exists("/e") is None


def test_sessions_table() -> None:
    sessions: Sessions[KazooClient] = Sessions()
    sessions.open(7, SessionRecord(100, b"p"), now_ms=1000)
    assert sessions.expired(1099) == []
    sessions.touch(7, 1050)
    assert sessions.expired(1149) == []
    sessions.postpone(50)
    assert sessions.expired(1199) == []
    assert sessions.expired(1200) == [7]
    assert sessions.find(7, b"q") is None
    assert sessions.close(7) is not None
    assert sessions.close(7) is None
    sessions.touch(7, 5000)


def test_session_ids_never_come_back() -> None:
    assert first_session_id(1_700_000_000_000, 0) < first_session_id(1_700_000_000_001, 0) < 1 << 56
    assert first_session_id(0, 41) == 42


def test_negotiate_timeout() -> None:
    assert [negotiate_timeout(asked, 10, 20) for asked in (-1, 10, 15, 99)] == [10, 10, 15, 20]
