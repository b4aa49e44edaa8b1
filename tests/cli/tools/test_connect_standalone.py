"""`connect-standalone` and `connect-distributed` as a user starts them, on Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster_fixture import KafkaServer
from tests.support.connect_workers import ConnectClient, worker_settings
from tests.support.processes import Process, free_port, wait_for
from tests.support.spark import QUICK_JAVA

pytestmark = pytest.mark.processes

SECONDS = 120.0
STRINGS = "org.apache.kafka.connect.storage.StringConverter"


def command(tool: str, *words: str) -> list[str]:
    return [sys.executable, "-m", f"penstock.cli.tools.{tool}", *words]


def write_properties(file: Path, properties: dict[str, str]) -> str:
    file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    return str(file)


def test_standalone_copies_a_file_through_kafka_and_goes_on_after_a_restart(
    kafka: KafkaServer, tmp_path: Path
) -> None:
    """Lines that were copied before the stop are not copied again: offsets are in Kafka."""
    lines, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    lines.write_text("one\ntwo\n")
    port = free_port()
    worker = {
        "bootstrap.servers": kafka.bootstrap,
        "listeners": f"http://127.0.0.1:{port}",
        "rest.advertised.host.name": "127.0.0.1",
        "key.converter": STRINGS,
        "value.converter": STRINGS,
        "offset.storage.file.filename": str(tmp_path / "connect.offsets"),
        "offset.flush.interval.ms": "500",
        "data.dir": str(tmp_path / "data"),
        "tick.ms": "500",
    }
    source = {
        "name": "from-file",
        "connector.class": "FileStreamSource",
        "file": str(lines),
        "topic": "copied",
    }
    sink = {"connector.class": "FileStreamSink", "file": str(copy), "topics": "copied"}
    (tmp_path / "sink.json").write_text(json.dumps({"name": "to-file", "config": sink}))
    words = [
        write_properties(tmp_path / "worker.properties", worker),
        write_properties(tmp_path / "source.properties", source),
        str(tmp_path / "sink.json"),
    ]
    connect = ConnectClient(f"http://127.0.0.1:{port}")
    with Process(command("connect_standalone", *words), tmp_path / "first.log", QUICK_JAVA) as first:
        first.wait_until(lambda: has_lines(copy, 2), SECONDS, "two lines")
        assert sorted(connect.send("GET", "/connectors").body) == ["from-file", "to-file"]
        first.wait_until(lambda: states(connect, "to-file") == ["RUNNING", "RUNNING"], SECONDS, "RUNNING")
        first.wait_until(lambda: sink_offset(connect) == 2, SECONDS, "the sink's commit")
        os.kill(first.pid, signal.SIGTERM)
        wait_for(lambda: not first.alive, SECONDS, "the end")
    assert "Traceback" not in (tmp_path / "first.log").read_text()
    with lines.open("a") as file:
        file.write("three\n")
    with Process(command("connect_standalone", *words), tmp_path / "second.log", QUICK_JAVA) as second:
        second.wait_until(lambda: has_lines(copy, 3), SECONDS, "the third line")
        assert copy.read_text() == "one\ntwo\nthree\n"


def has_lines(file: Path, count: int) -> bool:
    return file.exists() and file.read_text().count("\n") >= count


def states(connect: ConnectClient, name: str) -> list[str]:
    said: Any = connect.send("GET", f"/connectors/{name}/status").body
    return (
        [said["connector"]["state"], *(task["state"] for task in said["tasks"])]
        if "connector" in said
        else []
    )


def sink_offset(connect: ConnectClient) -> int | None:
    offsets = connect.send("GET", "/connectors/to-file/offsets").body["offsets"]
    return offsets[0]["offset"]["kafka_offset"] if offsets else None


@pytest.mark.parametrize(
    ("tool", "name", "value", "message"),
    [
        ("connect_distributed", "group.id", "", 'group.id: Missing required configuration "group.id"'),
        ("connect_distributed", "listeners", "x", "listeners: got 'x', takes http://host:port"),
        (
            "connect_standalone",
            "offset.storage.file.filename",
            "",
            "offset.storage.file.filename: Missing required",
        ),
        ("connect_distributed", "config.providers", "x", "config.providers.x.class: got ''; takes one of"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, tool: str, name: str, value: str, message: str
) -> None:
    properties = {**worker_settings("127.0.0.1:1", "g", 0), name: value}
    file = write_properties(tmp_path / "worker.properties", properties)
    ended = subprocess.run(command(tool, file), capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(f"{tool.replace('_', '-')}: {message}")
    assert "Traceback" not in ended.stderr


def test_connectors_files_that_make_no_sense_are_named(tmp_path: Path) -> None:
    properties = {**worker_settings("127.0.0.1:1", "g", 0), "offset.storage.file.filename": "x"}
    worker = write_properties(tmp_path / "worker.properties", properties)
    (tmp_path / "list.json").write_text("[]")
    nameless = write_properties(tmp_path / "nameless.properties", {"topic": "t"})
    for file, message in ((str(tmp_path / "list.json"), "takes an object"), (nameless, "Missing required")):
        ended = subprocess.run(
            command("connect_standalone", worker, file),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert ended.returncode == 1
        assert f"connect-standalone: {file}: {message}" in ended.stderr
        assert "Traceback" not in ended.stderr
