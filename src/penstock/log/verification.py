"""Producers whose next transaction this partition has not seen yet, while the coordinator is asked about it.

A partition takes the first record of a transaction only after the transaction's coordinator has said that the
partition is part of it (KIP-890): a transaction that the coordinator does not know of would never end, and nobody who
reads committed records would get past it. Between question and answer the transaction may end and its marker be
written here. Then the answer is out of date; so a `Verification` stands for one question, a marker removes it, and
who comes back with an answer must find it still there.

It also remembers the lowest sequence that was refused meanwhile. A later batch must not be appended before that one,
or the sequence would be broken for good.
"""

from typing import NamedTuple

from penstock.records.batch import Batch


class Verification:
    __slots__ = ("lowest_sequence", "producer_epoch", "raises_epoch", "started_ms")

    def __init__(self, batch: Batch, now_ms: int, *, raises_epoch: bool) -> None:
        self.producer_epoch = batch.producer_epoch
        self.lowest_sequence = batch.base_sequence
        self.started_ms = now_ms
        self.raises_epoch = raises_epoch
        """Whether the transaction runs in protocol 2, in which each one has its own epoch."""

    def note(self, batch: Batch, *, raises_epoch: bool) -> None:
        if batch.producer_epoch > self.producer_epoch:
            self.producer_epoch = batch.producer_epoch
            self.lowest_sequence = batch.base_sequence
            self.raises_epoch = raises_epoch
        elif batch.producer_epoch == self.producer_epoch:
            self.lowest_sequence = min(self.lowest_sequence, batch.base_sequence)

    def outlives(self, batch: Batch) -> bool:
        """Whether it is still good after a batch of its producer was appended.

        In protocol 2 the marker of the last transaction bears the epoch of this one.
        """
        return self.raises_epoch and batch.is_control and batch.producer_epoch == self.producer_epoch


class Admission(NamedTuple):
    """On what ground the batches of a request with a transactional id come to a partition."""

    verification: Verification | None = None
    """What the coordinator was asked about; None if the transaction must have records here already."""
    is_verified: bool = True
    """False if transactions are not verified at all."""


BY_ITS_TRANSACTION = Admission()
UNVERIFIED = Admission(is_verified=False)
