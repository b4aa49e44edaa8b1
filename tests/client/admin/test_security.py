"""Users, quotas and access control lists: on Apache Kafka, and what a broker without them says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import pytest

from penstock.client.admin.acls import (
    ANY_ENTRY,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    AclResourceType,
    PatternType,
    ResourcePattern,
    create_acls,
    delete_acls,
    describe_acls,
)
from penstock.client.admin.quotas import (
    QuotaAlteration,
    QuotaFilter,
    alter_client_quotas,
    describe_client_quotas,
)
from penstock.client.admin.users import (
    DeleteScramCredential,
    ScramCredential,
    ScramMechanism,
    UpsertScramCredential,
    alter_user_scram_credentials,
    describe_user_scram_credentials,
)
from penstock.errors import ErrorCode
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError
from tests.support.cluster_fixture import KafkaServer
from tests.wire_client.conftest import Asker

T = TypeVar("T")


def code_of(result: object) -> ErrorCode | None:
    assert isinstance(result, KafkaError)
    return result.code


async def eventually(cluster: Cluster, read: Callable[[], Awaitable[T]], wanted: T) -> None:
    """A broker learns of what the controller did a moment later."""
    async for attempt in cluster.attempts(f"{wanted}", timeout_ms=30_000):
        if (found := await read()) == wanted:
            return
        attempt.failed(KafkaError(f"found {found}"))


async def credentials(cluster: Cluster, user: str) -> set[ScramCredential]:
    found = (await describe_user_scram_credentials(cluster, [user]))[user]
    return set() if isinstance(found, KafkaError) else set(found)


def test_credentials(ask: Asker, apache: KafkaServer, topic: str) -> None:
    user = f"user-of-{topic}"
    sha_256, sha_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512

    async def life(cluster: Cluster) -> None:
        unknown = await describe_user_scram_credentials(cluster, [user])
        assert code_of(unknown[user]) is ErrorCode.RESOURCE_NOT_FOUND
        for each in (
            UpsertScramCredential(user, sha_256, "secret", 8192),
            UpsertScramCredential(user, sha_512, "s"),
        ):
            assert await alter_user_scram_credentials(cluster, [each]) == {user: None}
        wanted = {ScramCredential(sha_256, 8192), ScramCredential(sha_512, 4096)}
        await eventually(cluster, lambda: credentials(cluster, user), wanted)
        assert user in await describe_user_scram_credentials(cluster)
        assert await alter_user_scram_credentials(cluster, [DeleteScramCredential(user, sha_256)]) == {
            user: None
        }
        refused = await alter_user_scram_credentials(
            cluster, [UpsertScramCredential(user, sha_256, ""), DeleteScramCredential("nobody", sha_256)]
        )
        assert code_of(refused[user]) is ErrorCode.UNACCEPTABLE_CREDENTIAL
        assert code_of(refused["nobody"]) is ErrorCode.RESOURCE_NOT_FOUND

    ask(life, apache.bootstrap)


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(UpsertScramCredential("ann", ScramMechanism.SCRAM_SHA_256, "secret"))


def test_quotas(ask: Asker, apache: KafkaServer, topic: str) -> None:
    user = f"user-of-{topic}"
    named, default = {"user": user}, {"user": user, "client-id": None}

    async def life(cluster: Cluster) -> None:
        alterations = [
            QuotaAlteration(named, {"producer_byte_rate": 1024.0, "request_percentage": 0.5}),
            QuotaAlteration(default, {"consumer_byte_rate": 2048.0}),
            QuotaAlteration({"user": user, "ip": "::1"}, {"consumer_byte_rate": 1.0}),
        ]
        done = await alter_client_quotas(cluster, alterations)
        assert done[:2] == [None, None]
        assert code_of(done[2]) is ErrorCode.INVALID_REQUEST
        filters = [QuotaFilter("user", user)]
        strictly = partial(describe_client_quotas, cluster, filters, strict=True)
        wanted = {(("user", user),): {"producer_byte_rate": 1024.0, "request_percentage": 0.5}}
        await eventually(cluster, strictly, wanted)
        assert len(await describe_client_quotas(cluster, filters)) == 2
        of_default = [*filters, QuotaFilter("client-id", is_default=True)]
        ((entity, values),) = (await describe_client_quotas(cluster, of_default)).items()
        assert (dict(entity), values) == (default, {"consumer_byte_rate": 2048.0})
        undone = QuotaAlteration(named, {"producer_byte_rate": None, "request_percentage": None})
        assert await alter_client_quotas(cluster, [undone]) == [None]
        await eventually(cluster, strictly, {})

    ask(life, apache.bootstrap)


async def found(cluster: Cluster, wanted: AclBinding) -> set[AclBinding]:
    return set(await describe_acls(cluster, wanted))


def test_acls(ask: Asker, apache: KafkaServer, topic: str) -> None:
    pattern = ResourcePattern(AclResourceType.TOPIC, topic)
    allow = AccessControlEntry("User:ann", "*", AclOperation.READ, AclPermissionType.ALLOW)
    deny = AccessControlEntry("User:bob", "127.0.0.1", AclOperation.ALL, AclPermissionType.DENY)
    mine = AclBinding(pattern, ANY_ENTRY)

    async def life(cluster: Cluster) -> None:
        bindings = [AclBinding(pattern, allow), AclBinding(pattern, deny)]
        nameless = AclBinding(ResourcePattern(AclResourceType.TOPIC, ""), allow)
        made = await create_acls(cluster, [*bindings, nameless])
        assert made[:2] == [None, None]
        assert code_of(made[2]) is ErrorCode.INVALID_REQUEST
        await eventually(cluster, lambda: found(cluster, mine), set(bindings))
        matching = AclBinding(ResourcePattern(AclResourceType.TOPIC, topic, PatternType.MATCH), ANY_ENTRY)
        assert (
            set(await describe_acls(cluster)) >= set(await describe_acls(cluster, matching)) == set(bindings)
        )
        (gone,) = await delete_acls(cluster, [AclBinding(pattern, allow)])
        assert gone == bindings[:1]
        await eventually(cluster, lambda: found(cluster, mine), set(bindings[1:]))
        assert await delete_acls(cluster, [mine]) == [bindings[1:]]

    ask(life, apache.bootstrap)


Call = Callable[[Cluster], Coroutine[Any, Any, object]]


@pytest.mark.parametrize(
    "call",
    [describe_user_scram_credentials, lambda cluster: describe_client_quotas(cluster, [])],
    ids=["users", "quotas"],
)
def test_a_broker_that_does_not_know_them(ask: Asker, servers: str, call: Call) -> None:
    with pytest.raises(UnsupportedVersionError):
        ask(call, servers)


def test_a_broker_without_an_authorizer(ask: Asker, servers: str) -> None:
    with pytest.raises(KafkaError) as refused:
        ask(describe_acls, servers)
    assert refused.value.code is ErrorCode.SECURITY_DISABLED
