"""Mistakes that one could make, each at the place where it would be made; the simulation has to find them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from penstock.broker import coordination
from penstock.broker.partition import Partition
from penstock.controller import elections
from penstock.log.log_dir import LogDirectory
from penstock.replica.replica_set import ReplicaSet


@contextmanager
def acknowledge_before_the_isr_has_it() -> Iterator[None]:
    """A producer is answered as soon as the leader has the record."""
    with (
        patch("penstock.broker.handlers.produce.is_committed", lambda partition, end_offset: True),
        patch("penstock.broker.produce_memo.is_committed", lambda partition, end_offset: True),
    ):
        yield


@contextmanager
def skip_truncation() -> Iterator[None]:
    """A follower goes on where its log ends, whatever stands there at the leader."""
    with patch("penstock.broker.handlers.fetch.diverging_epoch", lambda partition, fetch: None):
        yield


@contextmanager
def elect_outside_the_isr() -> Iterator[None]:
    """When a leader is needed, one that is alive and not in sync leads as well as another."""
    decide = elections.decide_leader

    def decide_wrongly(state: ReplicaSet, brokers: elections.Brokers, **options: Any) -> Any:
        decided = decide(state, brokers, **options)
        others = [one for one in state.replicas if one in brokers and one not in state.isr]
        if decided is None or decided.state.leader == state.leader or not others:
            return decided
        led = replace(decided.state, leader=others[0], isr=(others[0],), lives=(brokers[others[0]].epoch,))
        return decided._replace(state=led)

    with patch("penstock.broker.controller.decide_leader", decide_wrongly):
        yield


@contextmanager
def ignore_a_stale_epoch() -> Iterator[None]:
    """A leader of an epoch that is over may still say who is in sync, and followers of it may fetch."""

    def set_whatever_is_there(path: str, data: bytes, version: int) -> coordination.Set:
        return coordination.Set(path, data)

    with ExitStack() as stack:
        stack.enter_context(patch("penstock.broker.in_sync.SetNode", set_whatever_is_there))
        stack.enter_context(patch.object(Partition, "check_epoch", lambda self, epoch: None))
        yield


@contextmanager
def forget_the_high_watermark_on_restart() -> Iterator[None]:
    """It is as if no high watermark had been written down."""
    with patch.object(LogDirectory, "read_high_watermarks", lambda self: {}):
        yield


BUGS = (
    acknowledge_before_the_isr_has_it,
    skip_truncation,
    elect_outside_the_isr,
    ignore_a_stale_epoch,
    forget_the_high_watermark_on_restart,
)
