"""Quotas of users, clients and addresses, and the SCRAM credentials of users: describing and altering them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from penstock.cli.options.kinds import java_double, java_int
from penstock.cli.tools.clients.java_text import double_text
from penstock.cli.tools.common.admin_client import raise_first
from penstock.cli.tools.common.failures import CommandFailure, as_future_says
from penstock.cli.tools.common.java_order import hash_code, in_hash_order
from penstock.cli.tools.configs.changes import Changes
from penstock.cli.tools.configs.entities import CLIENTS, IPS, USERS, Entities
from penstock.cli.tools.configs.names import CLIENT_QUOTAS, IP_QUOTAS, SCRAM_MECHANISMS
from penstock.client.admin.quotas import (
    CLIENT_ID,
    IP,
    USER,
    QuotaAlteration,
    QuotaEntity,
    QuotaFilter,
    alter_client_quotas,
    describe_client_quotas,
)
from penstock.client.admin.users import (
    USUAL_ITERATIONS,
    DeleteScramCredential,
    ScramMechanism,
    UpsertScramCredential,
    alter_user_scram_credentials,
    describe_user_scram_credentials,
)
from penstock.errors import ErrorCode
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError

QUOTA_TYPES = {USERS: USER, CLIENTS: CLIENT_ID, IPS: IP}
SHOWN_TYPES = {USER: "user-principal", CLIENT_ID: "client-id", IP: "ip"}
CREDENTIAL = re.compile(r"(?:iterations=(-?[0-9]*),)?password=(.*)")

Quotas = dict[QuotaEntity, dict[str, float]]


# --- describing


async def describe_quotas(cluster: Cluster, entities: Entities) -> None:
    quotas = await _quotas(cluster, entities)
    for entity in in_hash_order(quotas, len(quotas), hash_of=_hash_of_entity):
        names = dict(entity)
        whom = ", ".join(
            f"the default {shown}" if names[kind] is None else f"{shown} '{names[kind]}'"
            for kind, shown in SHOWN_TYPES.items()
            if kind in names
        )
        values = quotas[entity]
        listed = [f"{key}={double_text(values[key])}" for key in in_hash_order(values, len(values))]
        print(f"Quota configs for {whom} are {', '.join(listed)}")


def _hash_of_entity(entity: QuotaEntity) -> int:
    """Of an entity that is a map of its types."""
    parts = (hash_code(kind) ^ (0 if name is None else hash_code(name)) for kind, name in entity)
    return (31 + sum(parts)) & 0xFFFFFFFF


async def _quotas(cluster: Cluster, entities: Entities) -> Quotas:
    filters = [_filter(*pair) for pair in zip_longest(entities.types, entities.names)]
    return await describe_client_quotas(cluster, filters, strict=True)


def _filter(entity_type: str | None, name: str | None) -> QuotaFilter:
    if entity_type is None:
        raise CommandFailure("More entity names specified than entity types")
    return QuotaFilter(QUOTA_TYPES[entity_type], name or None, is_default=name == "")


async def describe_credentials(cluster: Cluster, users: Sequence[str]) -> None:
    for user, found in (await describe_user_scram_credentials(cluster, users)).items():
        if not isinstance(found, KafkaError):
            listed = [f"{each.mechanism.mechanism_name}=iterations={each.iterations}" for each in found]
            print(f"SCRAM credential configs for user-principal '{user}' are {', '.join(listed)}")
        elif found.code is not ErrorCode.RESOURCE_NOT_FOUND:
            said = as_future_says(found).rpartition("java.util.concurrent.")[2]
            print(f"Error retrieving SCRAM credential configs for user-principal '{user}': {said}")


# --- altering


async def alter_users_or_clients(cluster: Cluster, entities: Entities, changes: Changes) -> None:
    scram = [name for name in (*changes.added, *changes.deleted) if name in SCRAM_MECHANISMS]
    quotas = [name for name in (*changes.added, *changes.deleted) if name in CLIENT_QUOTAS]
    if entities.type == CLIENTS or len(entities.types) == 2:
        _check_known(changes, CLIENT_QUOTAS, "quota", CLIENTS)
    else:
        _check_known(changes, (*SCRAM_MECHANISMS, *CLIENT_QUOTAS), "quota and SCRAM credential", USERS)
        if scram:
            _check_credentials_alone(entities, quotas)
    if quotas:
        await alter_quotas(cluster, entities, changes)
    else:
        await _alter_credentials(cluster, entities.name, changes)


def _check_known(changes: Changes, known: Sequence[str], what: str, entity_type: str) -> None:
    for done, names, shown in (
        ("added", list(changes.added), "Set"),
        ("deleted", changes.deleted, "ArrayBuffer"),
    ):
        unknown = sorted((name for name in names if name not in known), key=SCRAM_MECHANISMS.__contains__)
        if unknown:
            listed = f"{shown}({', '.join(unknown)})"
            raise CommandFailure(
                f"Only {what} configs can be {done} for '{entity_type}' using --bootstrap-server. Unexpected config "
                f"names: {listed}"
            )


def _check_credentials_alone(entities: Entities, quotas: Sequence[str]) -> None:
    if entities.has_default:
        raise CommandFailure(
            "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials using "
            "--bootstrap-server."
        )
    if quotas:
        raise CommandFailure(
            f"Cannot alter both quota and SCRAM credential configs simultaneously for '{USERS}' using "
            "--bootstrap-server."
        )


async def alter_addresses(cluster: Cluster, entities: Entities, changes: Changes) -> None:
    unknown = [name for name in (*changes.added, *changes.deleted) if name not in IP_QUOTAS]
    if unknown:
        raise CommandFailure(
            f"Only connection quota configs can be added for '{IPS}' using --bootstrap-server. Unexpected config "
            f"names: {','.join(unknown)}"
        )
    await alter_quotas(cluster, entities, changes)


async def alter_quotas(cluster: Cluster, entities: Entities, changes: Changes) -> None:
    before = next(iter((await _quotas(cluster, entities)).values()), {})
    unset = [key for key in changes.deleted if key not in before]
    if unset:
        raise CommandFailure(f"Invalid config(s): {','.join(unset)}")
    entity = {
        QUOTA_TYPES[kind]: name or None for kind, name in zip(entities.types, entities.names, strict=True)
    }
    values: dict[str, float | None] = {key: _rate(key, text) for key, text in changes.added.items()}
    values |= dict.fromkeys(changes.deleted)
    raise_first(await alter_client_quotas(cluster, [QuotaAlteration(entity, values)]))


def _rate(key: str, text: str) -> float:
    try:
        return java_double(text)
    except ValueError:
        raise CommandFailure(f"Cannot parse quota configuration value for {key}: {text}") from None


async def _alter_credentials(cluster: Cluster, user: str, changes: Changes) -> None:
    deletions = [DeleteScramCredential(user, _mechanism(name)) for name in changes.deleted]
    upsertions = [_upsertion(user, name, text) for name, text in changes.added.items()]
    errors = await alter_user_scram_credentials(cluster, [*deletions, *upsertions])
    raise_first(errors.values())


def _mechanism(name: str) -> ScramMechanism:
    return ScramMechanism[name.replace("-", "_")]


def _upsertion(user: str, name: str, text: str) -> UpsertScramCredential:
    mechanism = _mechanism(name)
    found = CREDENTIAL.fullmatch(text)
    if found is None:
        raise CommandFailure(f"Invalid credential property {mechanism.name}={text}")
    iterations = USUAL_ITERATIONS
    if found[1] is not None and found[1] != "-1":
        iterations = _iterations(found[1])
    if iterations < USUAL_ITERATIONS:
        raise CommandFailure(
            f"Iterations {iterations} is less than the minimum {USUAL_ITERATIONS} required for {name}"
        )
    return UpsertScramCredential(user, mechanism, found[2], iterations)


def _iterations(text: str) -> int:
    try:
        return java_int(text)
    except ValueError as error:
        raise CommandFailure(str(error)) from None
