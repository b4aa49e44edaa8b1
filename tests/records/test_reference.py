"""Batches against the readers and writers of kafka-python and aiokafka, both ways, all codecs."""

import warnings
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatch as AiokafkaBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.records.batch import decode_batches
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.reader import Record, iterate_records
from tests.support.examples import examples

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its schemas by a deprecated call
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

maybe_bytes = st.none() | st.binary(max_size=200)
headers = st.lists(st.tuples(st.text(max_size=10), maybe_bytes), max_size=3).map(tuple)
contents = st.tuples(st.integers(0, 2**41), maybe_bytes, maybe_bytes, headers)
record_lists = st.lists(contents, min_size=1, max_size=20).map(
    lambda rows: [Record(number, *row) for number, row in enumerate(rows)]
)
codecs = st.sampled_from(list(Codec))


def as_records(batch: Any) -> list[Record]:
    return [
        Record(
            record.offset,
            record.timestamp,
            record.key,
            record.value,
            tuple((key, value) for key, value in record.headers),
        )
        for record in batch
    ]


@given(records=record_lists, codec=codecs, producer_id=st.integers(-1, 2**40))
@settings(max_examples=examples(60))
def test_what_we_build_others_read(records: list[Record], codec: Codec, producer_id: int) -> None:
    sequence = 0 if producer_id >= 0 else -1
    built = build_batch(
        records, codec=codec, producer_id=producer_id, producer_epoch=sequence, base_sequence=sequence
    )
    for reference in (DefaultRecordBatch(bytes(built.view)), AiokafkaBatch(bytes(built.view))):
        assert reference.validate_crc()
        assert as_records(reference) == records


@given(records=record_lists, codec=codecs)
@settings(max_examples=examples(60))
def test_what_others_build_we_read(records: list[Record], codec: Codec) -> None:
    for builder_class in (DefaultRecordBatchBuilder, AiokafkaBuilder):
        builder = builder_class(
            magic=2,
            compression_type=int(codec),
            is_transactional=0,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            batch_size=1 << 20,
        )
        for record in records:
            builder.append(record.offset, record.timestamp, record.key, record.value, list(record.headers))
        raw = bytes(builder.build())
        (batch,) = decode_batches(memoryview(bytearray(raw)))
        assert list(iterate_records(batch)) == records


@pytest.mark.parametrize("codec", list(Codec))
def test_large_values_pass_through_every_codec(codec: Codec) -> None:
    value = bytes(range(256)) * 2_000 + b"z" * 300_000
    records = [Record(n, 5, b"k", value) for n in range(2)]
    built = build_batch(records, codec=codec)
    assert as_records(AiokafkaBatch(bytes(built.view))) == records
    assert list(iterate_records(built)) == records
