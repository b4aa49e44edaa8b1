"""What Confluent's proxy answers when something is wrong with a consumer instance."""

from __future__ import annotations

from penstock.rest.errors import DESERIALIZATION
from penstock.web.errors import HttpError

INSTANCE_NOT_FOUND = 40403
FORMAT_MISMATCH = 40601
ALREADY_EXISTS, ILLEGAL_STATE = 40902, 40903
INVALID_CONFIG, OUT_OF_RANGE_CONFIG = 42204, 40001


def instance_not_found() -> HttpError:
    return HttpError(404, INSTANCE_NOT_FOUND, "Consumer instance not found.")


def format_mismatch() -> HttpError:
    return HttpError(
        406,
        FORMAT_MISMATCH,
        "The requested embedded data format does not match the deserializer for this consumer instance",
    )


def unreadable_record(message: str) -> HttpError:
    """Confluent's status for it, as odd as it is."""
    return HttpError(408, DESERIALIZATION, message)


def already_exists() -> HttpError:
    return HttpError(
        409,
        ALREADY_EXISTS,
        "Consumer with specified consumer ID already exists in the specified consumer group.",
    )


def illegal_state(why: str) -> HttpError:
    return HttpError(409, ILLEGAL_STATE, f"Illegal state: {why}")


def invalid_config(why: str) -> HttpError:
    return HttpError(422, INVALID_CONFIG, f"Invalid consumer configuration: {why}")


def config_out_of_range(why: str) -> HttpError:
    message = f"Invalid consumer configuration. It does not abide by the constraints: {why}"
    return HttpError(422, OUT_OF_RANGE_CONFIG, message)


def too_many_instances() -> HttpError:
    return HttpError(
        429, 429, "There are as many consumer instances as consumer.instances.max allows; delete one first"
    )
