"""Topic configs that change while the topic is in use: they hold for the next record."""

import time
from collections.abc import Iterator

import pytest

from penstock.broker.configs import Configs
from penstock.controller.image import ClusterImage
from penstock.controller.znodes import DEFAULT_BROKER
from penstock.errors import ErrorCode
from penstock.records.compression import Codec
from penstock.settings.broker import BrokerSettings
from penstock.testing import InProcessBroker
from tests.broker.asking import (
    batch_of,
    batches_of,
    fetch_one,
    log_end_offset,
    log_start_offset,
    now_ms,
    produce,
    produced,
    read_all,
    set_config,
    unique_topic,
    values_in,
)
from tests.broker.conftest import only_penstock
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

HOUR_MS = 3_600_000


def test_max_message_bytes(client: WireClient, topic: str) -> None:
    large = batch_of(b"x" * 5000)
    assert produced(client, topic, large) == 0
    set_config(client, topic, "max.message.bytes", "1000")
    wait_for(lambda: produce(client, topic, large).error_code == ErrorCode.MESSAGE_TOO_LARGE)
    set_config(client, topic, "max.message.bytes", "10000")
    wait_for(lambda: produce(client, topic, large).error_code == 0)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_compression_type_recompresses(client: WireClient, topic: str, codec: Codec) -> None:
    values = [b"bread " * 100, b"wine " * 100]
    produced(client, topic, batch_of(*values))
    set_config(client, topic, "compression.type", codec.name.lower())

    def last_codec() -> int:
        offset = produced(client, topic, batch_of(*values))
        return batches_of(fetch_one(client, topic, offset))[0].codec

    wait_for(lambda: last_codec() == codec)
    assert batches_of(fetch_one(client, topic))[0].codec == Codec.NONE, "what is there stays as it is"
    assert set(values_in(client, topic)) == set(values)


def test_uncompressed_unpacks(client: WireClient) -> None:
    topic = unique_topic(client, compression_type="uncompressed")
    produced(client, topic, batch_of(b"bread", b"wine", codec=Codec.ZSTD))
    (batch,) = batches_of(fetch_one(client, topic))
    assert batch.codec == Codec.NONE
    assert values_in(client, topic) == [b"bread", b"wine"]


def test_message_timestamp_type(client: WireClient, topic: str) -> None:
    answer = produce(client, topic, batch_of(b"bread", timestamp=1000))
    assert answer.log_append_time_ms == -1
    set_config(client, topic, "message.timestamp.type", "LogAppendTime")
    before = now_ms()

    def append_time() -> int:
        time_ms: int = produce(client, topic, batch_of(b"wine", timestamp=1000)).log_append_time_ms
        return time_ms

    wait_for(lambda: append_time() >= before - 1)
    records = read_all(client, topic)
    assert records[0].timestamp == 1000
    assert before - 1 <= records[-1].timestamp <= now_ms() + 1


def test_message_timestamp_bounds(client: WireClient, topic: str) -> None:
    old = batch_of(b"old", timestamp=now_ms() - 2 * HOUR_MS)
    assert produced(client, topic, old) == 0
    set_config(client, topic, "message.timestamp.before.max.ms", str(HOUR_MS))
    wait_for(lambda: produce(client, topic, old).error_code == ErrorCode.INVALID_TIMESTAMP)
    assert produce(client, topic, batch_of(b"new")).error_code == 0


def test_cleanup_policy(client: WireClient, topic: str) -> None:
    produced(client, topic, batch_of(b"no key"))
    set_config(client, topic, "cleanup.policy", "compact")
    wait_for(lambda: produce(client, topic, batch_of(b"no key")).error_code == ErrorCode.INVALID_RECORD)


def test_segment_ms_and_bytes_are_checked(client: WireClient, topic: str) -> None:
    with pytest.raises(AssertionError, match=r"segment\.bytes"):
        set_config(client, topic, "segment.bytes", "-1")
    with pytest.raises(AssertionError, match=r"no\.such"):
        set_config(client, topic, "no.such", "1")


# retention


@pytest.fixture
def hasty_broker() -> Iterator[InProcessBroker]:
    """Looks for old segments all the time."""
    with InProcessBroker({"log.retention.check.interval.ms": "20"}) as running:
        yield running


@only_penstock
def test_retention_by_time(hasty_broker: InProcessBroker) -> None:
    with WireClient(hasty_broker.bootstrap_servers) as client:
        topic = unique_topic(client)
        produced(client, topic, batch_of(b"old", timestamp=now_ms() - 2 * HOUR_MS))
        assert log_start_offset(client, topic) == 0
        set_config(client, topic, "retention.ms", str(HOUR_MS))
        wait_for(lambda: log_start_offset(client, topic) == 1, what="the old record to go")
        assert produced(client, topic, batch_of(b"new")) == 1
        assert values_in(client, topic) == [b"new"]
        (log_dir,) = hasty_broker.log_dirs
        first = log_dir / f"{topic}-0" / f"{0:020}.log"
        wait_for(lambda: not first.exists(), what="the file to go")


@only_penstock
def test_retention_by_size(hasty_broker: InProcessBroker) -> None:
    with WireClient(hasty_broker.bootstrap_servers) as client:
        topic = unique_topic(client, segment_bytes=str(1 << 20))
        value = b"x" * 400_000
        for _ in range(8):
            produced(client, topic, batch_of(value))
        (log_dir,) = hasty_broker.log_dirs
        segments = sorted((log_dir / f"{topic}-0").glob("*.log"))
        assert len(segments) == 4, "two batches fit in a segment"
        set_config(client, topic, "retention.bytes", str(1 << 20))
        wait_for(lambda: log_start_offset(client, topic) > 0, what="old segments to go")
        assert log_end_offset(client, topic) == 8
        kept = values_in(client, topic)
        assert kept == [value] * len(kept)
        assert len(kept) * len(value) > 1 << 20, "no more goes than the limit asks for"


@only_penstock
def test_a_segment_is_rolled_in_time(hasty_broker: InProcessBroker) -> None:
    with WireClient(hasty_broker.bootstrap_servers) as client:
        topic = unique_topic(client, segment_ms="1")
        (log_dir,) = hasty_broker.log_dirs

        def segments() -> int:
            time.sleep(0.005)  # the record's time must move for the roll to be due
            produced(client, topic, batch_of(b"x"))
            return len(list((log_dir / f"{topic}-0").glob("*.log")))

        wait_for(lambda: segments() > 2, what="segments to be rolled")
        assert len(values_in(client, topic)) == log_end_offset(client, topic)


def test_a_change_that_this_broker_cannot_follow(caplog: pytest.LogCaptureFixture) -> None:
    """Another broker has checked it against settings of its own."""
    static = BrokerSettings.from_configs({"broker.id": "1", "log.cleaner.max.compaction.lag.ms": "5"})
    image = ClusterImage(broker_configs={DEFAULT_BROKER: {"log.cleaner.min.compaction.lag.ms": "7"}})
    configs = Configs(static, image, 1)
    configs.reload()
    assert configs.current is static
    assert "log.cleaner.min.compaction.lag.ms: got 7" in caplog.text
    image.broker_configs[DEFAULT_BROKER] = {"log.cleaner.min.compaction.lag.ms": "3"}
    configs.reload()
    assert configs.current.log_cleaner_min_compaction_lag_ms == 3
