"""The SCRAM credentials of users: which they have, new ones, and their end.

A password never leaves this side: what is sent is salted and hashed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import pbkdf2_hmac
from typing import Any

from penstock.errors import ErrorCode
from penstock.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from penstock.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
    UserName,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for, raise_for

USUAL_ITERATIONS = 4096
SALT_BYTES = 32


class ScramMechanism(IntEnum):
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def mechanism_name(self) -> str:
        return self.name.replace("_", "-")


_DIGESTS = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}


@dataclass(frozen=True, slots=True)
class ScramCredential:
    mechanism: ScramMechanism
    iterations: int


@dataclass(frozen=True, slots=True)
class UpsertScramCredential:
    """A new password for a user, instead of the one that it had."""

    user: str
    mechanism: ScramMechanism
    password: str = field(repr=False)
    iterations: int = USUAL_ITERATIONS
    salt: bytes | None = field(default=None, repr=False)
    """A random one if none is given."""


@dataclass(frozen=True, slots=True)
class DeleteScramCredential:
    user: str
    mechanism: ScramMechanism


ScramAlteration = UpsertScramCredential | DeleteScramCredential


async def describe_user_scram_credentials(
    cluster: Cluster, users: Iterable[str] | None = None
) -> dict[str, tuple[ScramCredential, ...] | KafkaError]:
    """Of these users, or of all that have any."""
    names = None if users is None else [UserName(user) for user in users]
    request = DescribeUserScramCredentialsRequest(names or None)
    answer = await cluster.ask_any(request, DescribeUserScramCredentialsResponse)
    raise_for(answer.error_code, answer.error_message)
    return {result.user: _credentials(result) for result in answer.results}


def _credentials(result: DescribeUserScramCredentialsResult) -> tuple[ScramCredential, ...] | KafkaError:
    if result.error_code:
        return error_for(result.error_code, result.error_message)
    return tuple(
        ScramCredential(ScramMechanism(info.mechanism), info.iterations) for info in result.credential_infos
    )


async def alter_user_scram_credentials(
    cluster: Cluster, alterations: Iterable[ScramAlteration]
) -> dict[str, KafkaError | None]:
    """For each user why it could not be done, or None. Users with an alteration that makes no sense are not sent."""
    alterations = list(alterations)
    refused: dict[str, KafkaError | None] = {
        each.user: error for each in alterations if (error := _refusal(each)) is not None
    }
    left = [each for each in alterations if each.user not in refused]
    request = AlterUserScramCredentialsRequest(
        [ScramCredentialDeletion(d.user, d.mechanism) for d in left if isinstance(d, DeleteScramCredential)],
        [_upsertion(u) for u in left if isinstance(u, UpsertScramCredential)],
    )
    answer = await cluster.ask_controller(
        request, AlterUserScramCredentialsResponse, error_of=_not_controller
    )
    errors = {
        result.user: error_for(result.error_code, result.error_message) if result.error_code else None
        for result in answer.results
    }
    missing: dict[str, KafkaError | None] = {each.user: _left_out(each.user) for each in alterations}
    return missing | errors | refused


def _refusal(alteration: ScramAlteration) -> KafkaError | None:
    if not alteration.user:
        return error_for(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if isinstance(alteration, UpsertScramCredential) and not alteration.password:
        return error_for(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Password must not be empty")
    return None


def _upsertion(wanted: UpsertScramCredential) -> ScramCredentialUpsertion:
    salt = os.urandom(SALT_BYTES) if wanted.salt is None else wanted.salt
    digest = _DIGESTS[wanted.mechanism]
    salted = pbkdf2_hmac(digest, wanted.password.encode(), salt, max(wanted.iterations, 1))
    return ScramCredentialUpsertion(wanted.user, wanted.mechanism, wanted.iterations, salt, salted)


def _left_out(user: str) -> KafkaError:
    return KafkaError(f"The broker response did not contain a result for user {user}")


def _not_controller(answer: Any) -> int:
    codes = {result.error_code for result in answer.results}
    return ErrorCode.NOT_CONTROLLER if ErrorCode.NOT_CONTROLLER in codes else ErrorCode.NONE
