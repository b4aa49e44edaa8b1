import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.tools.kafka_server_start import read_settings

pytestmark = pytest.mark.processes


def kafka_server_start(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "penstock.cli.tools.kafka_server_start", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_overrides_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=3\nbroker.id : 7\nlog.dirs=/a,\\\n  /b\n")
    settings = read_settings(file, {"num.partitions": "4"})
    assert (settings.num_partitions, settings.broker_id, settings.data_dirs) == (4, 7, ("/a", "/b"))


def test_unknown_names_are_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    read_settings(None, {"num.partition": "4"})
    assert caplog.messages == ["unknown setting num.partition is ignored; did you mean num.partitions?"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["/nowhere/server.properties"],
            "/nowhere/server.properties: can't be read: No such file or directory",
        ),
        (
            ["--override", "num.partitions=0"],
            "num.partitions: got '0'; takes an integer, 1 or more (--override)",
        ),
        (
            ["--override", "listeners=PLAINTEXT://0.0.0.0:1"],
            "advertised.listeners: PLAINTEXT://0.0.0.0:1 is no",
        ),
        (["--override", "x"], "--override: got 'x'; takes NAME=VALUE"),
    ],
)
def test_errors_are_one_line(words: list[str], message: str) -> None:
    refused = kafka_server_start(*words)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"kafka-server-start: {message}")
    assert refused.stderr.count("\n") == 1


def test_version() -> None:
    assert kafka_server_start("--version").stdout.startswith("penstock ")
