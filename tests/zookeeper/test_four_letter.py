"""The four-letter words over a socket."""

import socket
from collections.abc import Callable

import pytest

from tests.zookeeper.raw_client import RawClient
from tests.zookeeper.running import WAIT_SECONDS, ServerThread


def ask(server: ServerThread, word: bytes) -> str:
    with socket.create_connection(("127.0.0.1", server.server.port), timeout=WAIT_SECONDS) as connection:
        connection.sendall(word)
        answer = b""
        while part := connection.recv(65536):
            answer += part
        return answer.decode()


@pytest.fixture
def busy(server: ServerThread) -> RawClient:
    with RawClient(server.address) as client:
        client.connect().create("/e", b"data", flags=1)
        client.exists("/e", watch=True)
        yield client


def test_ruok_and_isro(server: ServerThread) -> None:
    assert ask(server, b"ruok") == "imok"
    assert ask(server, b"ruok\n") == "imok"
    assert ask(server, b"isro") == "rw"


def test_srvr_and_stat(server: ServerThread, busy: RawClient) -> None:
    answer = ask(server, b"srvr")
    assert answer.startswith("Zookeeper version: 3.")
    assert "Mode: standalone\nNode count: 5\n" in answer
    assert "Zxid: 0x2\n" in answer
    assert "Connections: 2\n" in answer
    clients = ask(server, b"stat").partition("Clients:\n")[2]
    assert clients.startswith(" /127.0.0.1:")
    assert "[1](queued=0,recved=3,sent=3)" in clients


def test_mntr(server: ServerThread, busy: RawClient) -> None:
    values = dict(line.split("\t") for line in ask(server, b"mntr").splitlines())
    assert values["zk_server_state"] == "standalone"
    assert values["zk_znode_count"] == "5"
    assert values["zk_ephemerals_count"] == "1"
    assert values["zk_watch_count"] == "1"
    assert values["zk_num_alive_connections"] == "2"
    assert int(values["zk_packets_received"]) == 3


def test_cons_dump_wchs(server: ServerThread, busy: RawClient) -> None:
    session = f"{busy.session_id:#x}"
    assert f"sid={session},lop=EXISTS" in ask(server, b"cons")
    dump = ask(server, b"dump")
    assert "Session Sets (1)/(1):" in dump
    assert f"Sessions with Ephemerals (1):\n{session}:\n\t/e\n" in dump
    assert ask(server, b"wchs") == "1 connections watching 1 paths\nTotal watches:1\n"


def test_conf_and_envi(server: ServerThread) -> None:
    assert f"clientPort={server.server.port}\n" in ask(server, b"conf")
    assert ask(server, b"envi").startswith("Environment:\nzookeeper.version=3.")


def test_words_off_the_whitelist(start_server: Callable[..., ServerThread]) -> None:
    server = start_server(four_letter_words=frozenset(["ruok"]))
    assert ask(server, b"ruok") == "imok"
    assert ask(server, b"mntr") == "mntr is not executed because it is not in the whitelist.\n"
