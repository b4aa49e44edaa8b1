"""Quotas of clients: how much a user, a client id or an address may send, fetch, or ask for.

An entity says whom a quota is for, by type: `{"user": "ann", "client-id": None}` is Ann with any client id that has no
quota of its own; None is the default of a type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    OpData,
)
from penstock.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for, raise_for

USER = "user"
CLIENT_ID = "client-id"
IP = "ip"

_EXACT, _DEFAULT, _ANY = 0, 1, 2

QuotaEntity = tuple[tuple[str, str | None], ...]
"""Types with their names, as the cluster orders them."""


@dataclass(frozen=True, slots=True)
class QuotaFilter:
    """Entities of a type: the one with a name, the default (`is_default`), or any."""

    entity_type: str
    name: str | None = None
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class QuotaAlteration:
    entity: Mapping[str, str | None]
    values: Mapping[str, float | None]
    """New values by key; None takes the quota away."""


async def describe_client_quotas(
    cluster: Cluster, filters: Iterable[QuotaFilter], *, strict: bool = False
) -> dict[QuotaEntity, dict[str, float]]:
    """Quotas of the entities that match all filters; `strict` leaves out those that have other types as well."""
    request = DescribeClientQuotasRequest([_component(each) for each in filters], strict)
    answer = await cluster.ask_any(request, DescribeClientQuotasResponse)
    raise_for(answer.error_code, answer.error_message)
    return {
        tuple((part.entity_type, part.entity_name) for part in entry.entity): {
            value.key: value.value for value in entry.values
        }
        for entry in answer.entries or ()
    }


def _component(wanted: QuotaFilter) -> ComponentData:
    if wanted.is_default:
        return ComponentData(wanted.entity_type, _DEFAULT, None)
    return ComponentData(wanted.entity_type, _ANY if wanted.name is None else _EXACT, wanted.name)


async def alter_client_quotas(
    cluster: Cluster, alterations: Iterable[QuotaAlteration], *, validate_only: bool = False
) -> list[KafkaError | None]:
    """For each alteration why it could not be done, or None."""
    alterations = list(alterations)
    request = AlterClientQuotasRequest([_entry(each) for each in alterations], validate_only)
    answer = await cluster.ask_any(request, AlterClientQuotasResponse)
    errors = {
        frozenset((part.entity_type, part.entity_name) for part in entry.entity): (
            error_for(entry.error_code, entry.error_message) if entry.error_code else None
        )
        for entry in answer.entries
    }
    missing = KafkaError("The broker response did not contain a result for this entity")
    return [errors.get(frozenset(each.entity.items()), missing) for each in alterations]


def _entry(alteration: QuotaAlteration) -> EntryData:
    return EntryData(
        [EntityData(entity_type, name) for entity_type, name in alteration.entity.items()],
        [OpData(key, value or 0.0, value is None) for key, value in alteration.values.items()],
    )
