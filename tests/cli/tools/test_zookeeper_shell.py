"""zookeeper-shell beside zkCli, the shell of ZooKeeper: the same lines give the same answers and exit codes.

Each talks to a server of its own, so that both meet the same nodes, versions and transaction ids.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.zookeeper.java_client import require_java, shell_command
from tests.zookeeper.running import ServerProcess, kazoo_client
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

TIMEOUT_SECONDS = 60
MASKS = [
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
    (re.compile(r"(?<=time = ).*"), "<date>"),
    (
        re.compile(r" zxid: -?\d+$", re.MULTILINE),
        "",
    ),  # zkCli of 3.9 shows it with events, Kafka's shell does not
    (re.compile(r"0x[0-9a-f]{10,}"), "<session>"),
    # Another thread of zkCli says it, sooner or later.
    (re.compile(r"\nWATCHER::\n\nWatchedEvent state:\w+ type:None path:null\n"), ""),
]


@pytest.fixture(scope="module", autouse=True)
def java() -> None:
    require_java()


@pytest.fixture
@starts_processes
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    started = ServerProcess(tmp_path / "ours")
    yield started
    started.end()


@pytest.fixture
@starts_processes
def other_server(tmp_path: Path) -> Iterator[ServerProcess]:
    started = ServerProcess(tmp_path / "theirs")
    yield started
    started.end()


def our_shell(address: str) -> list[str]:
    return [sys.executable, "-m", "penstock.cli.tools.zookeeper_shell", address]


def masked(text: str) -> str:
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


def run(command: list[str], given: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    return done.returncode, masked(done.stdout), masked(done.stderr)


def same(server: ServerProcess, other_server: ServerProcess, lines: list[str]) -> tuple[int, str, str]:
    given = "".join(f"{line}\n" for line in lines)
    ours = run(our_shell(server.address), given)
    theirs = run(shell_command(other_server.address), given)
    assert ours[1].splitlines() == theirs[1].splitlines()
    assert ours[2].splitlines() == theirs[2].splitlines()
    assert ours[0] == theirs[0]
    return ours


def test_nodes(server: ServerProcess, other_server: ServerProcess) -> None:
    lines = [
        "ls /",
        "create /a hello",
        "create /a again",
        'create /a/b "two words"',
        "create /no/parent",
        "create -s /a/n- 1",
        "create -e /a/e x",
        "create /a/e/child",
        "create -c /container",
        "create -t 10000 /ttl",
        "create -s -e /both",
        "ls /a",
        "ls -s /a",
        "ls -R /",
        "ls /nowhere",
        "get /a",
        "get -s /a/b",
        "get /container",
        "get -b /a",
        "get -x /a/b",
        "get /nowhere",
        "set /a other",
        "set -s /a third",
        "set -v 2 /a fourth",
        "set -v 2 /a fifth",
        "set -b /a aGV4",
        "get -s /a",
        "stat /a",
        "stat /nowhere",
        "getAllChildrenNumber /a",
        "getEphemerals",
        "getEphemerals /a",
        "delete -v 9 /a/b",
        "delete /a",
        "delete /a/b",
        "deleteall /a",
        "ls /",
        "deleteall /nowhere",
        "sync /",
        "whoami",
        "config",
        "config -c -s",
        "listquota /ttl",
    ]
    _, out, err = same(server, other_server, lines)
    assert "\n[both0000000003, container, ttl, zookeeper]\n" in out
    assert "Node already exists: /a" in err


def test_the_configuration_of_an_ensemble(server: ServerProcess) -> None:
    """In a chroot, since the real node is the ensemble's to write."""
    config = b"server.1=h1:2888:3888:participant;h1:2181\nserver.2=h2:2888:3888;2182\nversion=100000000"
    with kazoo_client(server.address) as client:
        client.create("/inside/zookeeper/config", config, makepath=True)
    shown = run([*our_shell(f"{server.address}/inside"), "config", "-c"])
    assert shown[0] == 0
    assert shown[1].endswith("\n100000000 h1:2181,0.0.0.0:2182\n")


def test_acls(server: ServerProcess, other_server: ServerProcess) -> None:
    lines = [
        "create /open x",
        "getAcl /open",
        "addauth digest user:secret",
        "create /mine x auth::cdrwa",
        "getAcl -s /mine",
        "create /two x world:anyone:r,ip:127.0.0.1:cdrwa",
        "getAcl /two",
        "setAcl /open world:anyone:rq",
        "getAcl /open",
        "create /open/child x",
        "setAcl -v 7 /two world:anyone:r",
        "setAcl -s /two world:anyone:cdrwa",
        "setAcl -R /two world:anyone:ra",
        "getAcl /two",
        "create /bad x nonsense",
        "create /bad x digest:user",
        "getAcl /nowhere",
    ]
    same(server, other_server, lines)


def test_history_and_session(server: ServerProcess, other_server: ServerProcess) -> None:
    lines = [
        "create /a 1",
        "",
        "history",
        "redo 0",
        "redo 3",
        "redo 99",
        "redo",
        "printwatches",
        "printwatches off",
        "printwatches",
        "ls /",
        "close",
        "ls /",
        "connect",
        "ls /",
        "nonsense",
        "quit",
        "ls /",
    ]
    code, _, _ = same(server, other_server, lines)
    assert code == 127


def test_wrong_words(server: ServerProcess, other_server: ServerProcess) -> None:
    lines = [
        *(
            "ls",
            "get",
            "set /a",
            "create",
            "delete",
            "deleteall",
            "stat",
            "getAcl",
            "setAcl /",
            "sync",
            "addauth",
        ),
        *("listquota", "getAllChildrenNumber", "version now"),
        *(
            "ls -q /",
            "get -q",
            "set -v",
            "create -t",
            "create -t soon /a",
            "create -c -e /a",
            "create -t 5 -e /a",
        ),
        *(
            "create -t 0 /a",
            "create -t 5 -c /a",
            "ls nowhere",
            "get /a/",
            "get //",
            "stat /a/../b",
            "ls /./a",
        ),
        *("ls / watch", "get / watch", "stat / watch", "deleteall / -b x", "delete /zookeeper 5", "Ls /"),
    ]
    same(server, other_server, lines)


@pytest.mark.parametrize(
    "words", [("ls", "/"), ("get", "/nowhere"), ("nonsense",), ("create", "/a b", "c d")], ids=" ".join
)
def test_one_command(server: ServerProcess, other_server: ServerProcess, words: tuple[str, ...]) -> None:
    assert run([*our_shell(server.address), *words]) == run([*shell_command(other_server.address), *words])


def test_the_connection_is_told_of(server: ServerProcess) -> None:
    done = subprocess.run(
        our_shell(server.address),
        input="ls /\nprintwatches off\nconnect\nprintwatches on\nquit\n",
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
    )
    events = re.findall(r"\nWATCHER::\n\nWatchedEvent state:(\w+) type:None path:null\n", done.stdout)
    assert events == ["SyncConnected", "Closed"]


def test_nobody_answers() -> None:
    theirs = run([*shell_command("127.0.0.1:1"), "ls", "/"])
    code, out, err = run([*our_shell("127.0.0.1:1"), "ls", "/"])
    assert (code, out) == theirs[:2] == (1, "Connecting to <address>\n")
    assert err == theirs[2].replace("\n", ": nobody answers at <address>\n")


def test_a_chroot(server: ServerProcess) -> None:
    with kazoo_client(server.address) as client:
        client.create("/kafka/brokers/ids/0", b"broker", makepath=True)
    inside = f"{server.address}/kafka"
    assert run([*our_shell(inside), "ls", "/brokers"])[1].endswith("\n[ids]\n")
    assert run([*our_shell(inside), "getAllChildrenNumber", "/"])[1].endswith("\n3\n")
    made = run(our_shell(inside), "create -c /c\ncreate -e /e x\ngetEphemerals\n")
    assert made[1].endswith("\n[/e]\n")
    assert made[2] == "Created /c\nCreated /e\n"
    assert run([*our_shell(server.address), "get", "/kafka/brokers/ids/0"])[1].endswith("\nbroker\n")


class Conversation:
    """A shell that stays, whose output is read as it comes."""

    def __init__(self, command: list[str], terminal: bool) -> None:
        ours, theirs = pty.openpty() if terminal else (None, None)
        self._process = subprocess.Popen(
            command,
            stdin=theirs if terminal else subprocess.PIPE,
            stdout=theirs if terminal else subprocess.PIPE,
            stderr=theirs if terminal else subprocess.DEVNULL,
            env={**os.environ, "TERM": "dumb"},
        )
        if terminal:
            assert ours is not None
            assert theirs is not None
            os.close(theirs)
            self._read = self._write = ours
        else:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._read, self._write = self._process.stdout.fileno(), self._process.stdin.fileno()
        self.said = ""

    def type(self, text: str) -> None:
        os.write(self._write, text.encode())

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while text not in self.said:
            left = deadline - time.monotonic()
            assert left > 0, f"no {text!r} in {self.said!r}"
            if select.select([self._read], [], [], left)[0]:
                part = os.read(self._read, 65536)
                assert part, f"it ended without {text!r}: {self.said!r}"
                self.said += part.decode()

    def end(self) -> int:
        self.type("quit\n")
        return self._process.wait(TIMEOUT_SECONDS)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        if self._process.stdin is None:
            os.close(self._read)


@pytest.fixture
@starts_processes
def conversation(request: pytest.FixtureRequest, server: ServerProcess) -> Iterator[Conversation]:
    started = Conversation(our_shell(server.address), terminal=request.param == "terminal")
    yield started
    started.close()


@pytest.mark.parametrize("conversation", ["pipe"], indirect=True)
def test_watches(conversation: Conversation, server: ServerProcess) -> None:
    conversation.type("create /w 1\nget -w /w\nls -w /\nstat -w /later\nls -w /w\nsync /\n")
    conversation.wait_for("Sync is OK")
    with kazoo_client(server.address) as client:
        client.set("/w", b"2")
        client.create("/later", b"")
        client.create("/w/child", b"")
    for event in ("NodeDataChanged path:/w", "NodeChildrenChanged path:/", "NodeChildrenChanged path:/w"):
        conversation.wait_for(f"\nWATCHER::\n\nWatchedEvent state:SyncConnected type:{event}\n")
    conversation.wait_for("type:NodeCreated path:/later\n")
    assert conversation.end() == 0


@pytest.mark.parametrize("conversation", ["terminal"], indirect=True)
def test_a_terminal(conversation: Conversation, server: ServerProcess) -> None:
    conversation.wait_for(f"[zk: {server.address}(CONNECTED) 0] ")
    conversation.type("create /somewhere x\n")
    conversation.wait_for("Created /somewhere")
    conversation.wait_for(f"[zk: {server.address}(CONNECTED) 1] ")
    conversation.type("getAllCh\t /some\t\n")
    conversation.wait_for("getAllChildrenNumber /somewhere")
    conversation.wait_for("\n0")
    assert conversation.end() == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((":2181",), "zookeeper-shell: got ':2181'; takes host:port[/path]"),
        (("localhost:port",), "zookeeper-shell: got 'localhost:port'; takes host:port[/path]"),
        (
            ("localhost:2181", "-timeout", "soon", "ls"),
            "zookeeper-shell: -timeout: got 'soon'; takes milliseconds",
        ),
        (("localhost:2181", "-timeout"), "Error: no argument found for option -timeout"),
        (("localhost:2181", "-x"), "zookeeper-shell: got -x; takes -timeout MS"),
        (
            ("localhost:2181", "-zk-tls-config-file", "f"),
            "zookeeper-shell: -zk-tls-config-file: connections with TLS",
        ),
    ],
)
def test_refusals_are_one_line(words: tuple[str, ...], said: str) -> None:
    code, out, err = run([*our_shell(words[0]), *words[1:]])
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(said)


def test_usage() -> None:
    usage = "USAGE: zookeeper-shell zookeeper_host:port[/path] [-zk-tls-config-file file] [args...]\n"
    assert run(our_shell("")[:-1]) == (1, usage, "")


@pytest.mark.parametrize(
    "command", ["addWatch /", "removewatches /", "setquota -n 5 /", "delquota /", "reconfig"]
)
def test_commands_that_are_not_there(server: ServerProcess, command: str) -> None:
    code, _, err = run([*our_shell(server.address), *command.split()])
    assert (code, err) == (1, "This shell has no such command; ZooKeeper's own zkCli has\n")
