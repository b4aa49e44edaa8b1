"""Who may do what, who there is, and how much each may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.client.admin import acls, quotas, users
from penstock.client.admin.acls import ANY_ACL, AclBinding
from penstock.client.admin.calls.outcome import raise_failed, unless_failed
from penstock.client.admin.quotas import QuotaAlteration, QuotaEntity, QuotaFilter
from penstock.client.admin.users import (
    DeleteScramCredential,
    ScramCredential,
    ScramMechanism,
    UpsertScramCredential,
)
from penstock.wire_client import Cluster


async def list_acls(cluster: Cluster, matching: AclBinding = ANY_ACL) -> list[AclBinding]:
    """The access control lists that match, or all.

    >>> admin.list_acls()
    Traceback (most recent call last):
    penstock.wire_client.errors.KafkaError: No Authorizer is configured...
    """
    return await acls.describe_acls(cluster, matching)


async def create_acls(cluster: Cluster, bindings: Sequence[AclBinding]) -> None:
    """Lets principals do something, or forbids it.

    reads = AccessControlEntry("User:ann", "*", AclOperation.READ, AclPermissionType.ALLOW)
    admin.create_acls([AclBinding(ResourcePattern(AclResourceType.TOPIC, "orders"), reads)])
    """
    raise_failed(dict(zip(bindings, await acls.create_acls(cluster, bindings), strict=True)))


async def delete_acls(cluster: Cluster, matching: Iterable[AclBinding]) -> list[AclBinding]:
    """Deletes what matches any of the filters, and tells what that was.

    gone = admin.delete_acls([AclBinding(ResourcePattern(AclResourceType.TOPIC, "orders"), ANY_ENTRY)])
    """
    filters = list(matching)
    answers = await acls.delete_acls(cluster, filters)
    raise_failed(dict(zip(filters, answers, strict=True)))
    found = [each for answer in answers if isinstance(answer, list) for each in answer]
    return list(unless_failed(dict(enumerate(found))).values())


async def list_users(
    cluster: Cluster, names: Iterable[str] | None = None
) -> dict[str, tuple[ScramCredential, ...]]:
    """The users that have SCRAM credentials, with the mechanisms of each.

    admin.list_users()["ann"]
    """
    return unless_failed(await users.describe_user_scram_credentials(cluster, names))


async def upsert_user(
    cluster: Cluster,
    name: str,
    password: str,
    *,
    mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_512,
    iterations: int = users.USUAL_ITERATIONS,
) -> None:
    """Gives a user a password, or a new one.

    admin.upsert_user("ann", "a long secret")
    """
    change = UpsertScramCredential(name, mechanism, password, iterations)
    raise_failed(await users.alter_user_scram_credentials(cluster, [change]))


async def delete_user(
    cluster: Cluster, name: str, *, mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_512
) -> None:
    """Takes a user's password of this mechanism away.

    admin.delete_user("ann")
    """
    change = DeleteScramCredential(name, mechanism)
    raise_failed(await users.alter_user_scram_credentials(cluster, [change]))


async def list_quotas(
    cluster: Cluster, filters: Iterable[QuotaFilter] = ()
) -> dict[QuotaEntity, dict[str, float]]:
    """How much each user, client id or address may use.

    admin.list_quotas([QuotaFilter("user", "ann")])
    """
    return await quotas.describe_client_quotas(cluster, filters)


async def alter_quotas(
    cluster: Cluster, entity: Mapping[str, str | None], values: Mapping[str, float | None]
) -> None:
    """Sets the quotas of an entity; None takes one away.

    admin.alter_quotas({"user": "ann"}, {"producer_byte_rate": 1_000_000})
    """
    answers = await quotas.alter_client_quotas(cluster, [QuotaAlteration(entity, values)])
    raise_failed(dict(zip([str(dict(entity))], answers, strict=True)))
