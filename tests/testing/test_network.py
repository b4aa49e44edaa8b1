"""That a link that is cut carries nothing, and nothing else is cut with it."""

import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from penstock.testing.network import Network
from tests.support.processes import free_port

PATIENCE_SECONDS = 10.0


@pytest.fixture
def network() -> Iterator[Network]:
    network = Network()
    yield network
    network.close()


@pytest.fixture
def echo() -> Iterator[int]:
    """A server that says what it hears; its port."""
    server = socket.create_server(("127.0.0.1", port := free_port()))

    def answer(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(4096):
                connection.sendall(data)

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield port
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)


def heard(connection: socket.socket, said: bytes) -> bytes:
    answer = b""
    while len(answer) < len(said):
        answer += connection.recv(4096)
    return answer


def is_silent(connection: socket.socket) -> bool:
    connection.settimeout(0.2)
    try:
        connection.recv(1)
    except TimeoutError:
        return True
    finally:
        connection.settimeout(PATIENCE_SECONDS)
    return False


def request_of(client_id: bytes) -> bytes:
    return struct.pack(">ihhih", 100, 18, 3, 1, len(client_id)) + client_id + b"rest"


def test_what_is_said_on_a_link_that_is_cut_is_late(network: Network, echo: int) -> None:
    with connected(network.to_zookeeper(1, "zookeeper-1", echo)) as connection:
        connection.sendall(b"before")
        assert heard(connection, b"before") == b"before"
        network.cut("broker-1", "zookeeper-1")
        connection.sendall(b"meanwhile")
        assert is_silent(connection)
        network.mend()
        assert heard(connection, b"meanwhile") == b"meanwhile"


def test_a_broker_is_known_by_its_client_id(network: Network, echo: int) -> None:
    port = network.to_broker(2, echo)
    network.cut("broker-1", "broker-2")
    with connected(port) as one, connected(port) as three, connected(port) as client:
        for connection, name in (
            (one, b"broker-1-fetcher-0"),
            (three, b"broker-3-txn"),
            (client, b"rdkafka"),
        ):
            connection.sendall(request_of(name))
        for connection, name in ((three, b"broker-3-txn"), (client, b"rdkafka")):
            assert heard(connection, request_of(name)) == request_of(name)
        assert is_silent(one)
        network.mend()
        assert heard(one, request_of(b"broker-1-fetcher-0")) == request_of(b"broker-1-fetcher-0")


def test_a_server_that_hangs_up_is_heard(network: Network) -> None:
    with connected(network.to_zookeeper(1, "zookeeper-1", free_port())) as connection:
        assert connection.recv(1) == b""
