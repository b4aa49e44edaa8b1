"""What the leader does to a batch before the log gets it."""

from dataclasses import replace

import pytest

from penstock.errors import ApiError, ErrorCode
from penstock.records.batch import LOG_APPEND_TIME_FLAG, Batch
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.reader import Record, iterate_records
from penstock.records.validation import RecordError, prepare
from penstock.settings.topic import TopicSettings

NOW = 1_700_000_000_000
DEFAULTS = TopicSettings()


def a_batch(*timestamps: int, key: bytes | None = b"k", codec: Codec = Codec.NONE) -> Batch:
    records = [Record(n, timestamp, key, b"value" * 10) for n, timestamp in enumerate(timestamps or (NOW,))]
    return build_batch(records, codec=codec)


def refusal(batch: Batch, topic: TopicSettings) -> ApiError:
    with pytest.raises(ApiError) as refused:
        prepare([batch], topic, NOW)
    return refused.value


def test_by_default_the_batch_passes_untouched() -> None:
    batch = a_batch()
    before = bytes(batch.view)
    assert prepare([batch], DEFAULTS, NOW) == [batch]
    assert bytes(batch.view) == before


def test_a_batch_above_the_limit() -> None:
    batch = a_batch()
    assert prepare([batch], replace(DEFAULTS, max_message_bytes=batch.size), NOW)
    assert (
        refusal(batch, replace(DEFAULTS, max_message_bytes=batch.size - 1)).code
        == ErrorCode.MESSAGE_TOO_LARGE
    )


def test_timestamps_in_the_future() -> None:
    topic = replace(DEFAULTS, message_timestamp_after_max_ms=1_000)
    assert prepare([a_batch(NOW + 1_000)], topic, NOW)
    refused = refusal(a_batch(NOW, NOW + 1_001), topic)
    assert refused.code == ErrorCode.INVALID_TIMESTAMP
    assert isinstance(refused, RecordError)
    assert [index for index, _ in refused.record_errors] == [1]


def test_timestamps_in_the_past() -> None:
    topic = replace(DEFAULTS, message_timestamp_before_max_ms=1_000)
    assert prepare([a_batch(NOW - 1_000, -1)], topic, NOW)
    refused = refusal(a_batch(NOW, NOW - 1_001, codec=Codec.ZSTD), topic)
    assert refused.code == ErrorCode.INVALID_TIMESTAMP


def test_append_time_overrides_the_bounds() -> None:
    topic = replace(DEFAULTS, message_timestamp_type="LogAppendTime", message_timestamp_before_max_ms=10)
    (batch,) = prepare([a_batch(5)], topic, NOW)
    assert batch.is_valid()
    assert [record.timestamp for record in iterate_records(batch)] == [NOW]


def test_a_producer_must_not_claim_append_time() -> None:
    batch = build_batch([Record(0, NOW, b"k", b"v")], log_append_time_ms=NOW)
    topic = replace(DEFAULTS, message_timestamp_type="LogAppendTime")
    assert refusal(batch, topic).code == ErrorCode.INVALID_TIMESTAMP
    (kept,) = prepare([batch], DEFAULTS, NOW)
    assert not kept.attributes & LOG_APPEND_TIME_FLAG
    assert kept.is_valid()


@pytest.mark.parametrize("codec", list(Codec))
def test_compacted_topics_need_keys(codec: Codec) -> None:
    topic = replace(DEFAULTS, cleanup_policy=("compact",))
    assert prepare([a_batch(codec=codec)], topic, NOW)
    refused = refusal(a_batch(NOW, NOW, key=None, codec=codec), topic)
    assert refused.code == ErrorCode.INVALID_RECORD
    assert isinstance(refused, RecordError)
    assert [index for index, _ in refused.record_errors] == [0, 1]


@pytest.mark.parametrize("source", list(Codec))
@pytest.mark.parametrize("target", ["uncompressed", "gzip", "snappy", "lz4", "zstd"])
def test_the_topics_codec_wins(source: Codec, target: str) -> None:
    batch = build_batch(
        [Record(n, NOW + n, b"k", b"v" * 100) for n in range(5)],
        codec=source,
        producer_id=4,
        producer_epoch=1,
        base_sequence=8,
    )
    (stored,) = prepare([batch], replace(DEFAULTS, compression_type=target), NOW)
    wanted = Codec.NONE if target == "uncompressed" else Codec[target.upper()]
    assert stored.codec == wanted
    assert stored.is_valid()
    assert (stored is batch) == (source == wanted)
    assert list(iterate_records(stored)) == list(iterate_records(batch))
    assert (stored.producer_id, stored.producer_epoch, stored.base_sequence) == (4, 1, 8)


def test_recompression_is_measured_again() -> None:
    batch = build_batch([Record(0, NOW, b"k", b"v" * 5_000)], codec=Codec.ZSTD)
    topic = replace(DEFAULTS, compression_type="uncompressed", max_message_bytes=1_000)
    assert refusal(batch, topic).code == ErrorCode.MESSAGE_TOO_LARGE


def test_an_incoming_batch_can_be_stamped_after_recompression() -> None:
    topic = replace(DEFAULTS, compression_type="lz4", message_timestamp_type="LogAppendTime")
    (batch,) = prepare([a_batch(1, 2)], topic, NOW)
    assert batch.is_valid()
    assert (batch.codec, batch.max_timestamp) == (Codec.LZ4, NOW)
