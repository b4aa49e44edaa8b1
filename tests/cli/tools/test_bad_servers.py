"""What tools say of servers, and files of settings, that make no client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools

pytestmark = pytest.mark.processes

# Each tool with what it needs before it makes a client.
TOOLS = {
    "kafka-cluster": ("cluster-id",),
    "kafka-features": ("describe",),
    "kafka-transactions": ("list",),
    "kafka-log-dirs": ("--describe",),
    "kafka-delete-records": ("--offset-json-file", "x"),
    "kafka-get-offsets": (),
    "kafka-broker-api-versions": (),
    "kafka-streams-application-reset": ("--application-id", "x"),
}
SERVER_COMES_FIRST = ("kafka-features", "kafka-transactions")


def _words(tool: str, *client: str) -> tuple[str, ...]:
    return (*client, *TOOLS[tool]) if tool in SERVER_COMES_FIRST else (*TOOLS[tool], *client)


@pytest.mark.parametrize("server", ["nonsense", "127.0.0.1:notaport"])
@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_servers(both: BothTools, tool: str, server: str) -> None:
    done = both(tool, *_words(tool, "--bootstrap-server", server), stderr="ignore")
    assert done.returncode == 1
    assert server in done.stderr or "valid host:port" in done.stderr
    assert len(done.stderr.splitlines()) == 1 or "--bootstrap-server" in done.stderr


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_settings(both: BothTools, tool: str, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("request.timeout.ms=soon\n")
    client = ("--bootstrap-server", both.bootstrap, "--command-config", str(file))
    done = both(tool, *_words(tool, *client), stderr="ignore")
    assert done.returncode == 1
    assert "request.timeout.ms" in done.stderr
    assert len(done.stderr.splitlines()) == 1
