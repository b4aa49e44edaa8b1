"""ZooKeeper's own Java client against the server, through zkCli, alone and side by side with kazoo."""

import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from kazoo.client import KazooClient

from tests.zookeeper.java_client import require_java, run_command, run_shell, shell_command
from tests.zookeeper.running import WAIT_SECONDS, ServerThread, kazoo_client

pytestmark = pytest.mark.processes


@pytest.fixture(autouse=True)
def _java() -> None:
    require_java()


def test_nodes(server: ServerThread, client: KazooClient) -> None:
    output = run_shell(
        server.address,
        "create /a one",
        "create /a/b",
        "create -s /a/s- x",
        "create -e /a/e",
        "get -s /a",
        "set /a two",
        "set -v 7 /a three",
        "stat /a",
        "ls -R /a",
        "getEphemerals",
        "getAllChildrenNumber /a",
        "sync /a",
        "delete /a/b",
        "delete /a",
        "get /missing",
    )
    for created in ("/a", "/a/b", "/a/s-0000000001", "/a/e"):
        assert f"Created {created}\n" in output
    assert "\none\ncZxid = 0x" in output
    assert "dataVersion = 1\n" in output
    assert "/a\n/a/b\n/a/e\n/a/s-0000000001\n" in output
    assert "[/a/e]\n3\nSync is OK\n" in output
    assert "version No is not valid : /a" in output
    assert "Node not empty: /a" in output
    assert "Node does not exist: /missing" in output
    assert client.get("/a")[0] == b"two"
    assert client.get_children("/a") == ["s-0000000001"]


def test_deleteall_containers_and_ttl(server: ServerThread, client: KazooClient) -> None:
    for number in range(30):
        client.create(f"/tree/branch-{number % 3}/leaf-{number}", makepath=True)
    output = run_shell(
        server.address, "deleteall /tree", "create -c /container", "create -t 60000 /ttl", "ls /"
    )
    assert "[container, ttl, zookeeper]" in output
    assert client.exists("/tree") is None


def test_watches(server: ServerThread) -> None:
    output = run_shell(
        server.address,
        "create /a",
        "addWatch -m PERSISTENT_RECURSIVE /a",
        "addWatch -m PERSISTENT /b",
        "create /a/b",
        "set /a/b 1",
        "create /b",
        "set /b 1",
        "delete /a/b",
        "stat -w /c",
        "create /c",
        "removewatches /a",
        "create /a/unseen",
    )
    events = re.findall(r"type:(\w+) path:(/\S+) zxid", output)
    assert events == [
        ("NodeCreated", "/a/b"),
        ("NodeDataChanged", "/a/b"),
        ("NodeCreated", "/b"),
        ("NodeDataChanged", "/b"),
        ("NodeDeleted", "/a/b"),
        ("NodeCreated", "/c"),
        ("PersistentWatchRemoved", "/a"),
    ]


def test_acls_and_quota(server: ServerThread, client: KazooClient) -> None:
    output = run_shell(
        server.address,
        "create /open",
        "getAcl /open",
        "addauth digest alice:secret",
        "create /own data auth::cdrwa",
        "getAcl /own",
        "setAcl /open world:anyone:r",
        "set /open refused",
        "whoami",
        "setquota -n 5 /own",
        "listquota /own",
    )
    assert "'world,'anyone\n: cdrwa\n" in output
    assert re.search(r"'digest,'alice:\S{28}\n: cdrwa\n", output)
    assert "Insufficient permission : /open" in output
    assert "digest: alice\n" in output
    assert "Output quota for /own count=5" in output
    assert client.get_acls("/open")[0][0].perms == 1


def test_one_command_on_the_command_line(server: ServerThread, client: KazooClient) -> None:
    client.create("/from-kazoo", b"hello")
    result = run_command(server.address, "get", "/from-kazoo")
    # The thread that tells of the connection may have the last word.
    answer = re.sub(r"\s*WATCHER::\s+WatchedEvent .*", "", result.stdout).rstrip()
    assert (result.returncode, answer.splitlines()[-1]) == (0, "hello")
    assert run_command(server.address, "get", "/missing").returncode == 1


def test_java_and_kazoo_side_by_side(server: ServerThread, client: KazooClient) -> None:
    """Both count in the same sequence of names, while kazoo watches the children."""
    client.create("/shared")
    complete = threading.Event()
    client.ChildrenWatch("/shared", lambda names: len(names) < 120 or complete.set())
    outputs: list[str] = []
    commands = ["create -s /shared/java-"] * 60
    java = threading.Thread(target=lambda: outputs.append(run_shell(server.address, *commands)), daemon=True)
    java.start()
    mine = [client.create("/shared/kazoo-", sequence=True) for _ in range(60)]
    java.join(WAIT_SECONDS)
    assert complete.wait(WAIT_SECONDS)
    theirs = re.findall(r"Created (/shared/java-\d{10})", outputs[0])
    assert {path.removeprefix("/shared/") for path in [*mine, *theirs]} == set(client.get_children("/shared"))
    assert sorted(int(path[-10:]) for path in [*mine, *theirs]) == list(range(120))


class Shell:
    """A zkCli that stays."""

    def __init__(self, address: str) -> None:
        self._process = subprocess.Popen(
            shell_command(address),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
        )

    def say(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n")

    def wait_for(self, wanted: str) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if wanted in line:
                return
        raise AssertionError(f"zkCli ended without saying {wanted!r}")

    def end(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=WAIT_SECONDS)


@contextmanager
def shell(address: str) -> Iterator[Shell]:
    opened = Shell(address)
    try:
        yield opened
    finally:
        opened.end()


def test_watches_and_session_over_a_restart(start_server: Callable[..., ServerThread]) -> None:
    """Java's client brings its watches over with setWatches2."""
    server = start_server()
    with shell(server.address) as java:
        java.say("create -e /e")
        java.wait_for("Created /e")
        java.say("addWatch -m PERSISTENT_RECURSIVE /a")
        java.say("stat -w /once")
        java.wait_for("Node does not exist: /once")
        port = server.server.port
        server.stop()
        java.wait_for("state:Disconnected")
        server = start_server(client_port=port)
        java.wait_for("state:SyncConnected")
        with kazoo_client(server.address) as kazoo:
            assert kazoo.exists("/e").ephemeralOwner != 0
            java.say("ls /")
            java.wait_for("[e, zookeeper]")
            kazoo.create("/a/b", makepath=True)
            java.wait_for("type:NodeCreated path:/a/b")
            kazoo.create("/once")
            java.wait_for("type:NodeCreated path:/once")
