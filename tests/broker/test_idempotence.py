"""Sequences of idempotent producers: nothing twice, nothing out of order, also after a restart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker, ManualClock
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from tests.broker.asking import batch_of, log_end_offset, new_topic, produce, values_in
from tests.broker.conftest import only_penstock
from tests.broker.platform import Platform
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

LAST_SEQUENCE = 2**31 - 1
DAY_MS = 86_400_000


def new_producer_id(client: WireClient) -> int:
    """Asks again while the broker has none at hand yet."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)

    def answered() -> Any:
        response = client.send(request, 5)
        return None if response.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS else response

    response = wait_for(answered)
    assert (response.error_code, response.producer_epoch) == (0, 0)
    producer_id: int = response.producer_id
    return producer_id


class Sender:
    """One idempotent producer, to one partition."""

    def __init__(self, client: WireClient, topic: str) -> None:
        self.client = client
        self.topic = topic
        self.producer_id = new_producer_id(client)

    def send(self, sequence: int, *values: bytes, epoch: int = 0) -> Any:
        batch = batch_of(
            *(values or (b"%d" % sequence,)),
            producer_id=self.producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
        )
        return produce(self.client, self.topic, batch)

    def sent(self, sequence: int, *values: bytes, epoch: int = 0) -> int:
        """Sends what must be taken; its offset."""
        answer = self.send(sequence, *values, epoch=epoch)
        assert answer.error_code == 0, answer
        offset: int = answer.base_offset
        return offset

    def refused(self, sequence: int, *values: bytes, epoch: int = 0) -> ErrorCode:
        answer = self.send(sequence, *values, epoch=epoch)
        assert answer.base_offset == -1
        return ErrorCode(answer.error_code)


@pytest.fixture
def sender(client: WireClient, topic: str) -> Sender:
    return Sender(client, topic)


def test_producer_ids_differ(client: WireClient) -> None:
    assert len({new_producer_id(client) for _ in range(20)}) == 20


def test_a_duplicate_gets_the_offset_of_the_original(sender: Sender) -> None:
    assert sender.sent(0, b"bread") == 0
    assert sender.sent(1, b"wine", b"salt", b"oil") == 1
    assert sender.sent(0, b"bread") == 0
    assert sender.sent(1, b"wine", b"salt", b"oil") == 1
    assert sender.sent(4, b"eggs") == 4
    assert values_in(sender.client, sender.topic) == [b"bread", b"wine", b"salt", b"oil", b"eggs"]


def test_only_the_last_five_batches_are_known_as_duplicates(sender: Sender) -> None:
    for sequence in range(7):
        assert sender.sent(sequence) == sequence
    for sequence in (2, 6, 4):
        assert sender.sent(sequence) == sequence
    assert sender.refused(1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log_end_offset(sender.client, sender.topic) == 7


@pytest.mark.parametrize("sequence", [2, 100, LAST_SEQUENCE])
def test_a_gap(sender: Sender, sequence: int) -> None:
    sender.sent(0)
    assert sender.refused(sequence) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert sender.sent(1) == 1, "the producer goes on where it was"


def test_a_part_of_a_batch_is_no_duplicate_of_it(sender: Sender) -> None:
    sender.sent(0, b"bread", b"wine", b"salt")
    assert sender.refused(0, b"bread") == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log_end_offset(sender.client, sender.topic) == 3


def test_a_producer_that_is_not_known_begins_anywhere(sender: Sender) -> None:
    assert sender.sent(5) == 0
    assert sender.refused(7) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert sender.sent(6) == 1


def test_a_new_epoch_begins_at_zero_and_fences_the_old_one(sender: Sender) -> None:
    sender.sent(0)
    assert sender.refused(5, epoch=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert sender.sent(0, epoch=1) == 1
    assert sender.refused(1, epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert sender.sent(1, epoch=1) == 2
    assert log_end_offset(sender.client, sender.topic) == 3


def test_sequences_start_over(sender: Sender) -> None:
    assert sender.sent(LAST_SEQUENCE - 1, b"last but one", b"last", b"first") == 0
    assert sender.sent(1, b"second") == 3
    assert sender.sent(LAST_SEQUENCE - 1, b"last but one", b"last", b"first") == 0


def test_producers_do_not_disturb_each_other(client: WireClient, topic: str) -> None:
    one, other = Sender(client, topic), Sender(client, topic)
    assert [one.sent(0), other.sent(0), one.sent(1), other.sent(0), other.sent(1)] == [0, 1, 2, 1, 3]


# what a restart keeps


@pytest.fixture(scope="module")
@starts_processes
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("idempotence")) as running:
        yield running


@pytest.mark.processes
@only_penstock
@pytest.mark.parametrize("kill", [False, True], ids=["clean stop", "kill -9"])
def test_sequences_survive_a_restart(platform: Platform, kill: bool) -> None:
    with WireClient(platform.bootstrap) as client:
        sender = Sender(client, new_topic(client, f"foods-{kill}"))
        for sequence in range(3):
            sender.sent(sequence)
        sender.sent(0, epoch=3)
        before = sender.producer_id
    platform.restart_broker(kill=kill)
    with WireClient(platform.bootstrap) as client:
        sender.client = client
        assert sender.sent(0, epoch=3) == 3, "a duplicate is still one"
        assert sender.refused(5, epoch=3) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert sender.refused(3, epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH
        assert sender.sent(1, epoch=3) == 4
        assert new_producer_id(client) > before, "no id is handed out twice"


@only_penstock
def test_a_producer_is_forgotten_after_a_while(tmp_path: Path) -> None:
    clock = ManualClock()
    check = {"producer.id.expiration.check.interval.ms": "10"}
    with InProcessBroker(check, clock=clock) as broker, WireClient(broker.bootstrap_servers) as client:
        sender = Sender(client, new_topic(client, "foods"))
        sender.sent(0)
        clock.advance(DAY_MS // 2)
        broker.run(broker.broker.maintenance.expire_producers())
        assert sender.sent(0) == 0, "still known"
        clock.advance(DAY_MS)
        broker.run(broker.broker.maintenance.expire_producers())
        assert sender.sent(7) == 1, "begins anew"
