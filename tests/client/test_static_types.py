"""What type checkers see: every setting as a keyword of its type, and what the calls return."""

from pathlib import Path

import pytest
from mypy import api

SOURCE = Path(__file__).parents[2] / "src"

GOOD = """
from penstock import KafkaProducer, ProducerConfig, ProducerRecord, RecordMetadata

config = ProducerConfig({"acks": "all"}, bootstrap_servers=["a:1", "b:2"], linger_ms=5, compression_type="zstd")
linger: float = config.linger_ms
servers: tuple[str, ...] = config.bootstrap_servers
user: str | None = config.sasl_username
with KafkaProducer(config, value_serializer="json", partitioner_class=lambda topic, key, value, count: 0) as producer:
    metadata: RecordMetadata = producer.send(ProducerRecord("t", {"a": 1})).result(timeout=1.0)
    offset: int = producer.send("t", b"", key=b"", headers={"a": b""}).result().offset
    producer.produce("t", b"")
"""
BAD = """
from penstock import KafkaProducer, ProducerConfig
ProducerConfig(bootstrap_servers="a:1", linger_sm=5)
ProducerConfig(bootstrap_servers="a:1", linger_ms="soon")
ProducerConfig(bootstrap_servers="a:1", compression_type="brotli")
KafkaProducer(bootstrap_servers="a:1", group_id="g")
KafkaProducer(bootstrap_servers="a:1").send(7)
KafkaProducer(bootstrap_servers="a:1").send("t").result().offsets
"""


@pytest.mark.timeout(600)
def test_mypy_accepts_what_is_right_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYPYPATH", str(SOURCE))
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    cache = SOURCE.parent / ".mypy_cache/tests"
    files = [str(tmp_path / "good.py"), str(tmp_path / "bad.py")]
    report, _, _ = api.run(["--strict", "--cache-dir", str(cache), "--config-file=", *files])
    errors = [line.partition("/bad.py:")[2] for line in report.splitlines() if ": error: " in line]
    assert "good.py" not in report, report
    assert [int(line.partition(":")[0]) for line in errors] == [3, 4, 5, 6, 7, 8], report
