"""A program that was reset counts from nothing, all that it has counted before."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from penstock.pipeline.spark.engine import Engine
from penstock.testing import InProcessBroker
from tests.pipeline.tasks.running import make_topics, pipe, produced, program_from, running
from tests.support.kafka_streams import Piped
from tests.support.our_tools import our_tools
from tests.support.processes import wait_for

pytestmark = [pytest.mark.processes, pytest.mark.timeout(240)]

SECONDS = 60.0
PROGRAM = """
from penstock.streams import Program, StreamsBuilder

builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
words = builder.stream("{name}-words").group_by(lambda key, word: word)
words.count().to_stream().map_values(str).to("{name}-counts")
program = Program("{name}", builder.build())
"""


def test_counting_anew(streams_broker: InProcessBroker, engine: Engine, tmp_path: Path) -> None:
    name = f"anew-{uuid.uuid4().hex[:6]}"
    file = program_from(PROGRAM.format(name=name), tmp_path)
    make_topics(streams_broker, {f"{name}-words": 1, f"{name}-counts": 1})
    pipe(streams_broker, [Piped(f"{name}-words", 1000, None, word) for word in (b"tea", b"tea", b"milk")])

    def run_until(counts: list[tuple[bytes | None, bytes | None]]) -> None:
        def found() -> list[tuple[bytes | None, bytes | None]]:
            return [(each.key, each.value) for each in produced(streams_broker, f"{name}-counts")]

        with running(streams_broker, engine, file, packs=1):
            wait_for(lambda: len(found()) >= len(counts), SECONDS, "the counts")
        assert sorted(found()) == sorted(counts)

    once = [(b"tea", b"1"), (b"tea", b"2"), (b"milk", b"1")]
    run_until(once)
    assert _reset(file.path, streams_broker) == 0
    run_until(once * 2)


def _reset(path: str, broker: InProcessBroker) -> int:
    words = ("streams", "reset", path, "--bootstrap-server", broker.bootstrap_servers)
    return our_tools().run("penstock.cli.main", words).returncode
