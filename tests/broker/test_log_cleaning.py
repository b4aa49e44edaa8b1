"""Compaction in a running broker: old values go, and a log that can't be read does not hold up the others."""

import struct
from collections.abc import Iterator

import pytest
from crc32c import crc32c

from penstock.testing import InProcessBroker
from tests.broker.asking import batch_of, new_topic, produced, read_all, set_config, values_in
from tests.broker.conftest import only_penstock
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = only_penstock

HASTE = {"log.cleaner.backoff.ms": "20", "log.initial.task.delay.ms": "20"}
EAGER = {"min_cleanable_dirty_ratio": "0.0", "segment_bytes": str(1 << 20)}


@pytest.fixture
def cleaning() -> Iterator[WireClient]:
    with InProcessBroker(HASTE) as broker, WireClient(broker.bootstrap_servers) as client:
        yield client


def fill_segments(client: WireClient, topic: str) -> None:
    """Enough for two segments that are not written to any more."""
    for _ in range(3):
        produced(client, topic, batch_of(b"." * 900_000, key=b"filler"))


def newest(client: WireClient, topic: str) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for record in read_all(client, topic)}


def test_the_newest_value_of_each_key_stays(cleaning: WireClient) -> None:
    new_topic(cleaning, "foods", cleanup_policy="compact", **EAGER)
    for number in range(20):
        produced(cleaning, "foods", batch_of(b"%d" % number, key=b"%d" % (number % 4)))
    fill_segments(cleaning, "foods")
    wait_for(lambda: len(values_in(cleaning, "foods")) < 10, what="old values to go")
    found = newest(cleaning, "foods")
    assert {key: found[key] for key in (b"0", b"1", b"2", b"3")} == {
        b"0": b"16",
        b"1": b"17",
        b"2": b"18",
        b"3": b"19",
    }


def test_offsets_stay(cleaning: WireClient) -> None:
    new_topic(cleaning, "foods", cleanup_policy="compact", **EAGER)
    for number in range(20):
        produced(cleaning, "foods", batch_of(b"%d" % number, key=b"key"))
    fill_segments(cleaning, "foods")
    wait_for(lambda: len(values_in(cleaning, "foods")) < 10, what="old values to go")
    (kept,) = [record for record in read_all(cleaning, "foods") if record.key == b"key"]
    assert (kept.offset, kept.value) == (19, b"19")


def with_a_key_that_never_ends() -> bytes:
    """In its second record, whose length is right: a batch that the broker takes and nobody can read."""
    batch = bytearray(batch_of(b"value", b"value", key=b"broken-key"))
    key_length = batch.rindex(b"broken-key") - 1
    batch[key_length] = 0x7E
    batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    return bytes(batch)


def test_a_log_that_cant_be_read_is_left_alone(
    cleaning: WireClient, caplog: pytest.LogCaptureFixture
) -> None:
    new_topic(cleaning, "broken", retention_ms="-1", **EAGER)
    produced(cleaning, "broken", with_a_key_that_never_ends())
    fill_segments(cleaning, "broken")
    set_config(cleaning, "broken", "cleanup.policy", "compact")
    wait_for(lambda: "partition broken-0 can't be compacted" in caplog.text, what="the cleaner to give up")
    new_topic(cleaning, "foods", cleanup_policy="compact", **EAGER)
    for number in range(20):
        produced(cleaning, "foods", batch_of(b"%d" % number, key=b"key"))
    fill_segments(cleaning, "foods")
    wait_for(lambda: len(values_in(cleaning, "foods")) < 10, what="old values to go")
    assert caplog.text.count("can't be compacted") == 1
