"""What the controller decides about topics: names, how many partitions, which replicas, which leader."""

import re
from collections.abc import Iterable, Mapping, Sequence

from penstock.errors import ApiError, ErrorCode

MAX_NAME_LENGTH = 249
LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")
MAX_PARTITIONS_PER_REQUEST = 10_000
"""What one request may create, as in Kafka, also if it only asks whether it could."""


def check_topic_name(name: str) -> None:
    """Refuses a name that could not be a directory on disk, with Kafka's words."""
    if not name:
        raise _invalid_name("the empty string is not allowed")
    if name in (".", ".."):
        raise _invalid_name("'.' or '..' is not allowed")
    if len(name) > MAX_NAME_LENGTH:
        raise _invalid_name(f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}")
    if not LEGAL_NAME.fullmatch(name):
        raise _invalid_name(
            f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
        )


def _invalid_name(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def check_no_collision(name: str, existing: Mapping[str, object]) -> None:
    """Metric names turn `.` into `_`, so two topics may not differ in that alone."""
    if "." not in name and "_" not in name:
        return
    folded = name.replace(".", "_")
    colliding = [other for other in existing if other.replace(".", "_") == folded]
    if colliding:
        raise ApiError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {', '.join(sorted(colliding))}",
        )


def check_counts(partitions: int, replication_factor: int, brokers: int) -> None:
    if partitions <= 0:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
        )
    if replication_factor <= 0:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if replication_factor > brokers:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
            f"{replication_factor} cannot be reached because only {brokers} broker(s) are registered.",
        )


def check_request_size(partitions: Iterable[int]) -> None:
    """Refuses a request to create topics with more than so many partitions in all."""
    if sum(partitions) > MAX_PARTITIONS_PER_REQUEST:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")


def check_growth(added: int) -> None:
    if added > MAX_PARTITIONS_PER_REQUEST:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")


def check_assignment(assignment: Mapping[int, Sequence[int]], brokers: Sequence[int], first: int = 0) -> None:
    """Refuses a manual assignment with gaps, doubles, unknown brokers or unequal replication factors."""
    if sorted(assignment) != list(range(first, first + len(assignment))):
        raise _invalid_assignment("partitions should be a consecutive 0-based integer sequence")
    sizes = {len(replicas) for replicas in assignment.values()}
    for index, replicas in assignment.items():
        if not replicas:
            raise _invalid_assignment(f"partition {index} has an empty replica list")
        if len(set(replicas)) != len(replicas):
            raise _invalid_assignment(f"partition {index} has a duplicate replica in {list(replicas)}")
        unknown = [replica for replica in replicas if replica not in brokers]
        if unknown:
            raise _invalid_assignment(f"partition {index} names broker {unknown[0]}, which is not registered")
    if len(sizes) > 1:
        raise _invalid_assignment("all partitions must have the same replication factor")


def _invalid_assignment(reason: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"The manual partition assignment is invalid: {reason}"
    )
