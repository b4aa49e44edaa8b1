"""Transactions that are under way, and ending those that hang."""

from __future__ import annotations

from penstock.client.admin import transactions
from penstock.client.admin.transactions import TransactionDescription, TransactionListing
from penstock.wire_client import Cluster


async def list_transactions(cluster: Cluster, *, longer_than_ms: int = -1) -> list[TransactionListing]:
    """The transactions that coordinators know of; with `longer_than_ms` those that have been open so long.

    >>> admin.list_transactions()
    []
    """
    by_broker = await transactions.list_transactions(cluster, longer_than_ms=longer_than_ms)
    return [each for listed in by_broker.values() for each in listed]


async def describe_transaction(cluster: Cluster, transactional_id: str) -> TransactionDescription:
    """State, producer and partitions of a transaction.

    >>> admin.describe_transaction("nobody")
    Traceback (most recent call last):
    penstock.wire_client.errors.KafkaError: ...
    """
    return await transactions.describe_transaction(cluster, transactional_id)


async def terminate_transaction(cluster: Cluster, transactional_id: str) -> None:
    """Aborts what is under way, and fences its producer.

    admin.terminate_transaction("kitchen")
    """
    await transactions.terminate_transaction(cluster, transactional_id)
