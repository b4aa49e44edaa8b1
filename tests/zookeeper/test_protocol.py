"""The protocol by hand, over a socket: order, pipelining, watches of every kind, bad bytes."""

import random
import socket
from collections.abc import Callable
from struct import pack, unpack_from

import pytest

from tests.zookeeper.raw_client import RawClient, Reply, create_body, text
from tests.zookeeper.running import WAIT_SECONDS, ServerThread

CREATE, DELETE, EXISTS, GET_DATA, SET_DATA, GET_CHILDREN, SYNC, PING = 1, 2, 3, 4, 5, 8, 9, 11
MULTI, CREATE2, RECONFIG, CHECK_WATCHES, REMOVE_WATCHES, CREATE_CONTAINER = 14, 15, 16, 17, 18, 19
CREATE_TTL, MULTI_READ, AUTH, SET_WATCHES, GET_EPHEMERALS, ALL_CHILDREN_NUMBER = 21, 22, 100, 101, 103, 104
SET_WATCHES2, ADD_WATCH, WHO_AM_I = 105, 106, 107
NO_NODE, BAD_ARGUMENTS, NO_WATCHER, MARSHALLING, UNIMPLEMENTED, AUTH_FAILED = -101, -8, -121, -5, -6, -115
CREATED, DELETED, CHANGED, CHILD = 1, 2, 3, 4
PERSISTENT, RECURSIVE = 0, 1


@pytest.fixture
def raw(server: ServerThread) -> RawClient:
    with RawClient(server.address) as client:
        yield client.connect()


def event(reply: Reply) -> tuple[int, str]:
    assert reply.xid == -1, reply
    kind, state, size = unpack_from(">iii", reply.body)
    assert (state, len(reply.body)) == (3, 12 + size)
    return kind, reply.body[12:].decode()


def strings(*values: str) -> bytes:
    return pack(">i", len(values)) + b"".join(map(text, values))


def set_data(path: str, data: bytes = b"x", version: int = -1) -> bytes:
    return text(path) + pack(">i", len(data)) + data + pack(">i", version)


def test_pipelined_answers_come_in_order(raw: RawClient) -> None:
    stream = bytearray()
    for number in range(500):
        stream += raw.request_frame(CREATE, create_body(f"/n{number}"))
        stream += raw.request_frame(EXISTS, text(f"/n{number}") + b"\0")
    raw.send_bytes(bytes(stream))
    replies = [raw.receive() for _ in range(1000)]
    assert [reply.error for reply in replies] == [0] * 1000
    assert [reply.xid for reply in replies] == sorted(reply.xid for reply in replies)
    assert [reply.zxid for reply in replies] == sorted(reply.zxid for reply in replies)


def test_frames_split_at_every_byte(server: ServerThread) -> None:
    body = pack(">iqiqi", 0, 0, 10_000, 0, 16) + bytes(16)
    probe = RawClient(server.address)
    stream = pack(">i", len(body)) + body
    stream += probe.request_frame(CREATE2, create_body("/split-", b"data", 2))
    stream += probe.request_frame(GET_CHILDREN, text("/") + b"\0")
    probe.close()
    for cut in range(1, len(stream), 7):
        with RawClient(server.address) as client:
            client._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.send_bytes(stream[:cut])
            client.send_bytes(stream[cut:])
            assert len(client.receive_frame()) == 36
            assert [client.receive().error, client.receive().error] == [0, 0]


def test_an_old_client_without_the_read_only_flag_gets_none(server: ServerThread) -> None:
    with RawClient(server.address) as client:
        body = pack(">iqiqi", 0, 0, 10_000, 0, 16) + bytes(16)
        client.send_bytes(pack(">i", len(body)) + body)
        assert len(client.receive_frame()) == 4 + 4 + 8 + 4 + 16


def test_set_watches_tells_what_was_missed(server: ServerThread, raw: RawClient) -> None:
    for path in ("/changed", "/same", "/gone", "/children", "/same-children"):
        raw.create(path)
    seen = raw.create("/last").zxid
    raw.call(SET_DATA, set_data("/changed"))
    raw.call(DELETE, text("/gone") + pack(">i", -1))
    raw.create("/children/child")
    raw.create("/born")
    with RawClient(server.address) as back:
        back.connect()
        body = pack(">q", seen) + strings("/changed", "/same", "/gone") + strings("/born", "/unborn")
        back.send(SET_WATCHES, body + strings("/children", "/same-children"), xid=-8)
        missed = [event(back.receive()) for _ in range(4)]
        assert missed == [(CHANGED, "/changed"), (DELETED, "/gone"), (CREATED, "/born"), (CHILD, "/children")]
        assert back.receive()[0] == -8
        raw.call(SET_DATA, set_data("/same"))
        raw.create("/unborn")
        raw.create("/same-children/child")
        raw.call(SET_DATA, set_data("/changed"))
        told = [event(back.receive()) for _ in range(3)]
        assert told == [(CHANGED, "/same"), (CREATED, "/unborn"), (CHILD, "/same-children")]
        assert back.call(PING, xid=-2).xid == -2


def test_persistent_watches_stay(server: ServerThread, raw: RawClient) -> None:
    with RawClient(server.address) as watcher:
        watcher.connect()
        assert watcher.call(ADD_WATCH, text("/a") + pack(">i", PERSISTENT)).error == 0
        raw.create("/a")
        raw.call(SET_DATA, set_data("/a"))
        raw.call(SET_DATA, set_data("/a"))
        raw.create("/a/b")
        raw.create("/a/b/c")
        told = [event(watcher.receive()) for _ in range(4)]
        assert told == [(CREATED, "/a"), (CHANGED, "/a"), (CHANGED, "/a"), (CHILD, "/a")]
        assert watcher.call(CHECK_WATCHES, text("/a") + pack(">i", 4)).error == 0
        assert watcher.call(CHECK_WATCHES, text("/a") + pack(">i", 5)).error == NO_WATCHER
        assert watcher.call(REMOVE_WATCHES, text("/a") + pack(">i", 3)).error == 0
        assert watcher.call(REMOVE_WATCHES, text("/a") + pack(">i", 3)).error == NO_WATCHER
        raw.call(SET_DATA, set_data("/a"))
        assert watcher.call(PING, xid=-2).xid == -2


def test_recursive_watches_see_the_subtree(server: ServerThread, raw: RawClient) -> None:
    with RawClient(server.address) as watcher:
        watcher.connect()
        assert watcher.call(ADD_WATCH, text("/a") + pack(">i", RECURSIVE)).error == 0
        for path in ("/a", "/a/b", "/a/b/c", "/ab"):
            raw.create(path)
        raw.call(SET_DATA, set_data("/a/b/c"))
        raw.call(DELETE, text("/a/b/c") + pack(">i", -1))
        told = [event(watcher.receive()) for _ in range(5)]
        assert told == [
            (CREATED, "/a"),
            (CREATED, "/a/b"),
            (CREATED, "/a/b/c"),
            (CHANGED, "/a/b/c"),
            (DELETED, "/a/b/c"),
        ]
        lists = strings() + strings() + strings() + strings() + strings("/ab")
        assert watcher.call(SET_WATCHES2, pack(">q", 0) + lists, xid=-8).error == 0
        raw.create("/ab/x")
        assert event(watcher.receive()) == (CREATED, "/ab/x")
        assert watcher.call(ADD_WATCH, text("/a") + pack(">i", 9)).error == BAD_ARGUMENTS


def test_a_watch_tells_nothing_to_those_who_may_not_read(server: ServerThread, raw: RawClient) -> None:
    with RawClient(server.address) as owner:
        owner.connect()
        assert raw.call(ADD_WATCH, text("/secret") + pack(">i", PERSISTENT)).error == 0
        owner.call(AUTH, pack(">i", 0) + text("digest") + text("a:b"), xid=-4)
        creator_only = pack(">ii", 1, 31) + text("auth") + text("")
        assert owner.call(CREATE, text("/secret") + text("data") + creator_only + pack(">i", 0)).error == 0
        assert raw.call(PING, xid=-2).xid == -2


def test_reads_that_few_clients_use(raw: RawClient) -> None:
    raw.create("/a", b"data")
    raw.create("/a/e", flags=1)
    raw.create("/a/b")
    assert raw.call(ALL_CHILDREN_NUMBER, text("/a")).body == pack(">i", 2)
    assert raw.call(GET_EPHEMERALS, text("/a")).body == strings("/a/e")
    assert raw.call(GET_EPHEMERALS, text("/b")).body == strings()
    assert raw.call(WHO_AM_I).body == pack(">i", 1) + text("ip") + text("127.0.0.1")
    assert raw.call(SYNC, text("/a")).body == text("/a")
    assert raw.call(RECONFIG).error == -123


def test_multi_read(raw: RawClient) -> None:
    raw.create("/a", b"data")
    operations = b"".join(
        pack(">ibi", opcode, 0, -1) + text(path) + b"\0"
        for opcode, path in ((GET_DATA, "/a"), (GET_CHILDREN, "/a"), (GET_DATA, "/missing"))
    )
    reply = raw.call(MULTI_READ, operations + pack(">ibi", -1, 1, -1))
    assert reply.error == 0
    assert unpack_from(">ibi", reply.body) == (GET_DATA, 0, 0)
    assert reply.body[9:17] == text("data")
    assert reply.body.endswith(pack(">ibii", -1, 0, NO_NODE, NO_NODE) + pack(">ibi", -1, 1, -1))


def test_containers_and_ttl_nodes_delete_themselves(start_server: Callable[..., ServerThread]) -> None:
    server = start_server(container_check_interval_ms=20)
    with RawClient(server.address) as client:
        client.connect()
        assert client.call(CREATE_CONTAINER, create_body("/container", flags=4)).error == 0
        client.create("/container/child")
        assert client.exists("/container", watch=True)
        assert client.call(DELETE, text("/container/child") + pack(">i", -1)).error == 0
        assert event(client.receive()) == (DELETED, "/container")
        assert client.call(CREATE_TTL, create_body("/ttl", flags=5) + pack(">q", 0)).error == BAD_ARGUMENTS
        client.send(CREATE_TTL, create_body("/ttl", flags=5) + pack(">q", 300))
        client.send(EXISTS, text("/ttl") + b"\1")
        assert [client.receive().error, client.receive().error] == [0, 0]
        assert event(client.receive()) == (DELETED, "/ttl")


def test_unknown_authentication_closes_the_connection(server: ServerThread) -> None:
    with RawClient(server.address) as client:
        client.connect()
        assert client.call(AUTH, pack(">i", 0) + text("kerberos") + text("x"), xid=-4).error == AUTH_FAILED
        assert client.is_closed()


BAD_BODIES = {
    "an empty create": (CREATE, b""),
    "a path longer than the frame": (CREATE, pack(">i", 1 << 30) + b"/a"),
    "a negative length": (EXISTS, pack(">i", -2) + b"/a\0"),
    "a huge count of ACLs": (CREATE, text("/a") + text("") + pack(">i", 0x7FFFFFFF)),
    "a negative count": (CREATE, text("/a") + text("") + pack(">i", -7) + pack(">i", 0)),
    "a path that is not UTF-8": (EXISTS, pack(">i", 2) + b"/\xff" + b"\0"),
    "a huge count of watches": (SET_WATCHES, pack(">qi", 0, 0x10000000)),
    "a multi without an end": (MULTI, pack(">ibi", CREATE, 0, -1) + create_body("/a")),
    "a multi of unknown operations": (MULTI, pack(">ibi", 77, 0, -1)),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_answered_and_closes(server: ServerThread, raw: RawClient, name: str) -> None:
    with RawClient(server.address) as client:
        assert client.connect().call(*BAD_BODIES[name]).error == MARSHALLING
        assert client.is_closed()
    assert not raw.exists("/a")


def test_an_unknown_operation_is_answered_and_closes(server: ServerThread) -> None:
    with RawClient(server.address) as client:
        assert client.connect().call(4711).error == UNIMPLEMENTED
        assert client.is_closed()


@pytest.mark.parametrize(
    "opening", [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x00\x10\x00\x00", b"GET / HTTP"]
)
def test_a_bad_frame_length_closes(server: ServerThread, raw: RawClient, opening: bytes) -> None:
    with RawClient(server.address) as client:
        client.send_bytes(opening)
        assert client.is_closed()
    assert raw.call(PING, xid=-2).error == 0


def test_garbage_never_stops_the_server(server: ServerThread, raw: RawClient) -> None:
    dice = random.Random(7)
    for _ in range(40):
        with RawClient(server.address) as client:
            client.connect()
            body = dice.randbytes(dice.randrange(60))
            client.send(dice.choice([*range(23), *range(100, 108), -11]), body)
            try:
                client.receive()
            except (EOFError, ConnectionResetError):
                pass
    assert raw.call(PING, xid=-2).error == 0


def test_paths_that_zookeeper_refuses(raw: RawClient) -> None:
    for path in (
        "",
        "a",
        "/a/",
        "//a",
        "/a//b",
        "/.",
        "/a/..",
        "/a/./b",
        "/a\0b",
        "/a\x1f",
        "/a\x85",
        "/\ufff1",
    ):
        assert raw.create(path).error == BAD_ARGUMENTS, path
    for path in ("/...", "/.a", "/a b", "/ü", "/a."):
        assert raw.create(path).error == 0, path
    for path in ("/", "/zookeeper", "/zookeeper/quota"):
        assert raw.call(DELETE, text(path) + pack(">i", -1)).error == BAD_ARGUMENTS


def test_a_client_that_does_not_read_is_not_read_either(start_server: Callable[..., ServerThread]) -> None:
    """Its requests stay in its socket, so the server's memory does not grow with them; then all are answered."""
    server = start_server()
    with RawClient(server.address) as client:
        client.connect().create("/large", b"x" * 200_000)
        request = client.request_frame(GET_DATA, text("/large") + b"\0", xid=1)
        client._socket.setblocking(False)
        sent = 0
        while sent < 3000 * len(request):
            try:
                sent += client._socket.send((request * 200)[sent % len(request) :])
            except BlockingIOError:
                break
        client._socket.settimeout(WAIT_SECONDS)
        with RawClient(server.address) as other:
            assert other.connect().exists("/large")
        for _ in range(sent // len(request)):
            assert client.receive().error == 0


def test_too_many_connections_of_one_host(start_server: Callable[..., ServerThread]) -> None:
    server = start_server(max_client_cnxns=2)
    with RawClient(server.address) as first, RawClient(server.address) as second:
        first.connect()
        second.connect()
        with RawClient(server.address) as third:
            assert third.is_closed()
        first.close()
        second.create("/a")
