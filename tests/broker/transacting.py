"""Short ways to say the requests of transactional producers, in either protocol."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

from penstock.errors import ErrorCode
from penstock.records.control import read_end_transaction_marker
from penstock.records.reader import iterate_records
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from penstock.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from penstock.wire.messages.describe_transactions import DescribeTransactionsRequest
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.broker.asking import (
    LATEST,
    PRODUCE_BY_NAME,
    batch_of,
    batches_of,
    fetch_one,
    list_offset,
    log_end_offset,
    produce_request,
)
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

READ_COMMITTED = 1
TRANSACTION = 1
PRODUCE_IN_PROTOCOL_1 = 11
ADD_PARTITIONS_AS_CLIENT = 3
END_IN_PROTOCOL_1, END_IN_PROTOCOL_2 = 4, 5
RETRIED = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
)

_numbers = itertools.count()


def new_transactional_id(client: WireClient) -> str:
    transactional_id = f"transactional-{os.getpid()}-{next(_numbers)}"
    request = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=[transactional_id])
    wait_for(lambda: client.send(request).coordinators[0].error_code == 0, what="a coordinator")
    return transactional_id


def until_settled(ask: Callable[[], Any]) -> Any:
    """Asks again while the coordinator is busy, as every client does."""

    def answered() -> Any:
        response = ask()
        return None if response.error_code in RETRIED else response

    return wait_for(answered, what="the coordinator to be done with what it was at")


class Transactor:
    """One transactional producer. Its `protocol` is 2 unless told; sequences are kept per partition."""

    def __init__(
        self,
        client: WireClient,
        transactional_id: str | None = None,
        *,
        protocol: int = 2,
        timeout_ms: int = 60_000,
    ) -> None:
        self.client = client
        self.protocol = protocol
        self.transactional_id = transactional_id or new_transactional_id(client)
        self.timeout_ms = timeout_ms
        self.producer_id = self.epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}
        self.init()

    # InitProducerId

    def init(self) -> None:
        response = until_settled(lambda: self.ask_init())
        assert response.error_code == 0, ErrorCode(response.error_code)
        self._become(response.producer_id, response.producer_epoch)

    def ask_init(self, *, keep: bool = False, version: int = 5) -> Any:
        request = InitProducerIdRequest(self.transactional_id, self.timeout_ms)
        if keep:
            request.producer_id, request.producer_epoch = self.producer_id, self.epoch
        return self.client.send(request, version)

    def _become(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            self.sequences.clear()
        self.producer_id, self.epoch = producer_id, epoch

    # records

    def send(
        self, topic: str, *values: bytes, partition: int = 0, version: int | None = None, **header: Any
    ) -> Any:
        """Sends one batch; the answer for its partition."""
        sequence = self.sequences.get((topic, partition), 0)
        details = {
            "producer_id": self.producer_id,
            "producer_epoch": self.epoch,
            "base_sequence": sequence,
            "is_transactional": True,
            **header,
        }
        request = produce_request(topic, batch_of(*values, **details), partition)
        request.transactional_id = self.transactional_id
        if version is None:
            version = PRODUCE_BY_NAME if self.protocol == 2 else PRODUCE_IN_PROTOCOL_1
        answer = self.client.send(request, version).responses[0].partition_responses[0]
        if answer.error_code == 0:
            self.sequences[topic, partition] = sequence + len(values)
        return answer

    def sent(self, topic: str, *values: bytes, partition: int = 0) -> int:
        """Sends what must be taken; its offset. In protocol 1 the partition is added before."""
        if self.protocol == 1:
            assert self.add(topic, partition) == 0
        answer = until_settled(lambda: self.send(topic, *values, partition=partition))
        assert answer.error_code == 0, (ErrorCode(answer.error_code), answer.error_message)
        offset: int = answer.base_offset
        return offset

    def refused(self, topic: str, *values: bytes, **details: Any) -> ErrorCode:
        answer = self.send(topic, *(values or (b"refused",)), **details)
        assert answer.base_offset == -1
        return ErrorCode(answer.error_code)

    def add(self, topic: str, *partitions: int, version: int = ADD_PARTITIONS_AS_CLIENT) -> ErrorCode:
        """AddPartitionsToTxn, as a client sends it; the code that all partitions get."""

        def ask() -> Any:
            response = self.client.send(
                AddPartitionsToTxnRequest(
                    self.transactional_id,
                    (),
                    self.producer_id,
                    self.epoch,
                    [AddPartitionsToTxnTopic(topic, partitions or (0,))],
                ),
                version,
            )
            codes = {
                ErrorCode(one.partition_error_code)
                for one in response.results_by_topic_v3_and_below[0].results_by_partition
            }
            (code,) = codes
            return None if code in RETRIED else [code]

        (code,) = wait_for(ask, what="the last transaction to end")
        assert isinstance(code, ErrorCode)
        return code

    # the end

    def ask_end(self, *, is_commit: bool, version: int | None = None, epoch: int | None = None) -> Any:
        if version is None:
            version = END_IN_PROTOCOL_2 if self.protocol == 2 else END_IN_PROTOCOL_1
        epoch = self.epoch if epoch is None else epoch
        request = EndTxnRequest(self.transactional_id, self.producer_id, epoch, is_commit)
        return self.client.send(request, version)

    def end(self, *, is_commit: bool) -> None:
        """Ends the transaction, and waits until its markers are written."""
        response = until_settled(lambda: self.ask_end(is_commit=is_commit))
        assert response.error_code == 0, ErrorCode(response.error_code)
        if self.protocol == 2:
            self._become(response.producer_id, response.producer_epoch)
        self.wait_until_complete()

    def commit(self) -> None:
        self.end(is_commit=True)

    def abort(self) -> None:
        self.end(is_commit=False)

    def describe(self) -> Any:
        return self.client.send(DescribeTransactionsRequest([self.transactional_id])).transaction_states[0]

    def wait_until_complete(self) -> None:
        wait_for(lambda: self.describe().transaction_state.startswith("Complete"), what="all markers")


# reading


def committed_values(client: WireClient, topic: str, partition: int = 0) -> list[bytes | None]:
    """What a consumer with read_committed hands out: it skips what the broker says was aborted."""
    values: list[bytes | None] = []
    offset = 0
    while offset < stable_end(client, topic, partition):
        data = fetch_one(client, topic, offset, partition, isolation_level=READ_COMMITTED)
        assert data.error_code == 0, ErrorCode(data.error_code)
        values += _without_aborted(data, offset)
        offset = batches_of(data)[-1].next_offset
    return values


def _without_aborted(data: Any, offset: int) -> list[bytes | None]:
    to_come = sorted((one.first_offset, one.producer_id) for one in data.aborted_transactions or ())
    aborted: set[int] = set()
    values: list[bytes | None] = []
    for batch in batches_of(data):
        while to_come and to_come[0][0] <= batch.last_offset:
            aborted.add(to_come.pop(0)[1])
        if batch.is_control:
            marker = read_end_transaction_marker(batch)
            if marker is not None and not marker.is_commit:
                aborted.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in aborted):
            values += [one.value for one in iterate_records(batch) if one.offset >= offset]
    return values


def stable_end(client: WireClient, topic: str, partition: int = 0) -> int:
    """The last stable offset."""
    offset: int = list_offset(client, topic, LATEST, partition, isolation_level=READ_COMMITTED).offset
    return offset


def markers_in(client: WireClient, topic: str, partition: int = 0) -> list[tuple[str, int, int]]:
    """The control batches of a partition: kind, producer id, producer epoch."""
    found: list[tuple[str, int, int]] = []
    offset = 0
    while offset < log_end_offset(client, topic, partition):
        batches = batches_of(fetch_one(client, topic, offset, partition))
        for batch in batches:
            marker = read_end_transaction_marker(batch) if batch.is_control else None
            if marker is not None:
                kind = "commit" if marker.is_commit else "abort"
                found.append((kind, batch.producer_id, batch.producer_epoch))
        offset = batches[-1].next_offset
    return found


def producers_of(client: WireClient, topic: str, partition: int = 0) -> Any:
    request = DescribeProducersRequest([TopicRequest(topic, [partition])])
    return client.send(request).topics[0].partitions[0].active_producers


def write_marker(
    client: WireClient,
    topic: str,
    producer_id: int,
    epoch: int,
    *,
    is_commit: bool = False,
    coordinator_epoch: int = 0,
    transaction_version: int = 0,
    partition: int = 0,
) -> ErrorCode:
    """WriteTxnMarkers, as an administrator's tool or another coordinator sends it."""
    marker = WritableTxnMarker(
        producer_id,
        epoch,
        is_commit,
        [WritableTxnMarkerTopic(topic, [partition])],
        coordinator_epoch,
        transaction_version,
    )
    response = client.send(WriteTxnMarkersRequest([marker]), 2)
    return ErrorCode(response.markers[0].topics[0].partitions[0].error_code)
