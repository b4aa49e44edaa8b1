"""Batches that take long to look at are checked beside the event loop, all of them, and each client's order holds."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.broker import long_batches
from penstock.errors import ErrorCode
from penstock.records.batch import HEADER_SIZE, Batch
from penstock.records.builder import build_batch, with_payload
from penstock.records.compression import Codec, compress
from penstock.records.reader import Record
from penstock.testing import InProcessBroker
from tests.broker.asking import (
    PRODUCE_BY_NAME,
    batch_of,
    log_end_offset,
    new_topic,
    now_ms,
    produce,
    produce_request,
    produced,
    unique_topic,
    values_in,
)
from tests.broker.conftest import only_penstock
from tests.broker.platform import Platform
from tests.support.bystander import standing_by
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

LONG_BYTES = 24 << 20
CODECS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
MOST_WAIT_SECONDS = 0.25
"""Below the half second and more for which the walk of such a batch, in Python, would hold the loop."""


def long_batch(codec: Codec, damage: int = 0) -> bytes:
    """A few records that decompress to a lot; a damaged one has that many bytes too few."""
    values = [bytes(LONG_BYTES // 4)] * 4
    records = [Record(index, now_ms(), None, value) for index, value in enumerate(values)]
    plain = build_batch(records)
    data = bytes(plain.view[HEADER_SIZE:])
    packed = with_payload(plain, compress(codec, data[: len(data) - damage]), codec=codec)
    return bytes(packed.view)


@pytest.fixture(scope="module")
@starts_processes
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("long-batches") / "platform") as running:
        yield running


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work in the thread takes a second more."""
    plain = long_batches.prepare

    def slow(*arguments: Any, **more: Any) -> list[Batch]:
        time.sleep(1)
        return plain(*arguments, **more)

    monkeypatch.setattr(long_batches, "prepare", slow)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_a_long_batch_is_walked_to_its_end(client: WireClient, codec: Codec) -> None:
    topic = unique_topic(client, max_message_bytes=str(4 << 20))
    assert produced(client, topic, long_batch(codec)) == 0
    answer = produce(client, topic, long_batch(codec, damage=1))
    assert answer.error_code in (ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE), answer
    assert produced(client, topic, batch_of(b"next")) == 4
    assert log_end_offset(client, topic) == 5


def test_the_order_of_a_client_holds(client: WireClient) -> None:
    """Long and short ones in turn, sent without waiting, with sequences that would tell."""
    topic = unique_topic(client, max_message_bytes=str(4 << 20))
    sequence, requests = 0, []
    for turn in range(6):
        records = [Record(n, now_ms(), None, bytes(LONG_BYTES // 12 if turn % 2 else 10)) for n in range(3)]
        batch = build_batch(
            records, codec=Codec.ZSTD, producer_id=7, producer_epoch=0, base_sequence=sequence
        )
        requests.append(produce_request(topic, bytes(batch.view)))
        sequence += 3
    for request in requests:
        client.post(request, PRODUCE_BY_NAME)
    answers = [client.receive(request, PRODUCE_BY_NAME) for request in requests]
    partitions = [answer.responses[0].partition_responses[0] for answer in answers]
    assert [(p.error_code, p.base_offset) for p in partitions] == [(0, 3 * turn) for turn in range(6)]


def test_without_acks_it_is_written_even_if_the_client_has_gone(
    client: WireClient, server_bootstrap: str
) -> None:
    topic = unique_topic(client, max_message_bytes=str(4 << 20))
    with WireClient(server_bootstrap) as other:
        other.post(produce_request(topic, long_batch(Codec.GZIP), acks=0), PRODUCE_BY_NAME)
    deadline = time.monotonic() + 20
    while log_end_offset(client, topic) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.processes
@only_penstock
@pytest.mark.parametrize("policy", ["delete", "compact"])
def test_nobody_waits_for_many_small_records(platform: Platform, policy: str) -> None:
    records = [Record(index, now_ms(), b"k", b"v") for index in range(300_000)]
    batch = bytes(build_batch(records, codec=Codec.ZSTD).view)
    with WireClient(platform.bootstrap) as client:
        topic = unique_topic(client, max_message_bytes=str(64 << 20), cleanup_policy=policy)
        with standing_by(platform.bootstrap, platform.broker.pid, topic) as waits:
            assert produced(client, topic, batch) == 0
    assert waits.broker < MOST_WAIT_SECONDS


@pytest.mark.processes
@only_penstock
def test_nobody_waits_for_a_codec_that_is_changed(platform: Platform) -> None:
    words = [b"%d" % (number * 7919 % 10_007) for number in range(300_000)]
    records = [Record(index, now_ms(), None, b" ".join(words)) for index in range(1)]
    batch = bytes(build_batch(records, codec=Codec.ZSTD).view)
    with WireClient(platform.bootstrap) as client:
        topic = unique_topic(client, compression_type="gzip", compression_gzip_level="9")
        with standing_by(platform.bootstrap, platform.broker.pid, topic) as waits:
            assert produced(client, topic, batch) == 0
    assert waits.broker < MOST_WAIT_SECONDS


@only_penstock
@pytest.mark.usefixtures("slow")
def test_a_topic_that_goes_meanwhile(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client, WireClient(broker.bootstrap_servers) as other:
        new_topic(client, "foods", max_message_bytes=str(4 << 20))
        request = produce_request("foods", long_batch(Codec.ZSTD))
        client.post(request, PRODUCE_BY_NAME)
        time.sleep(0.3)
        broker.delete_topic("foods")
        new_topic(other, "foods")
        answer = client.receive(request, PRODUCE_BY_NAME).responses[0].partition_responses[0]
        assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert values_in(other, "foods") == []


@only_penstock
@pytest.mark.usefixtures("slow")
def test_a_stop_waits_for_what_is_at_work(broker: InProcessBroker) -> None:
    """It would be written into a log that was closed, and said to be complete."""
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods", max_message_bytes=str(4 << 20))
        client.post(produce_request("foods", long_batch(Codec.ZSTD)), PRODUCE_BY_NAME)
        time.sleep(0.3)
        broker.stop_broker()
    time.sleep(1)
    assert (broker.log_dirs[0] / ".kafka_cleanshutdown").exists()
    size = (broker.log_dirs[0] / "foods-0" / f"{0:020}.log").stat().st_size
    broker.start_broker()
    with WireClient(broker.bootstrap_servers) as client:
        assert (log_end_offset(client, "foods"), size > 0) == (4, True)
        assert list((broker.log_dirs[0] / "foods-0").glob(f"{4:020}.snapshot"))
