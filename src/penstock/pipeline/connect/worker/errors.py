"""Why a worker cannot do what it is asked; `status` is what its REST API answers.

`NotFoundError` (404) and `AlreadyExistsError` (409) of `penstock.pipeline.connect.errors` belong to the family.
"""

from __future__ import annotations

from penstock.pipeline.connect.errors import AlreadyExistsError, ConnectError, NotFoundError

INTERNAL_SERVER_ERROR = 500


class BadRequestError(ConnectError):
    """The request makes no sense, or a connector's configuration is wrong."""

    status = 400


class RebalanceNeededError(ConnectError):
    """Who does what is being agreed on just now; the same request may succeed in a moment."""

    status = 409


class RequestTargetError(ConnectError):
    """Another worker has to answer: `url` says which; None when it is not known just now."""

    status = 409

    def __init__(self, message: str, url: str | None) -> None:
        super().__init__(message)
        self.url = url


class NotLeaderError(RequestTargetError):
    """Only the leader writes configurations."""


class NotAssignedError(RequestTargetError):
    """The connector runs on another worker."""


class RequestTimeoutError(ConnectError):
    """What was asked for may still happen, but nobody waits any longer."""

    status = 500


def status_of(error: ConnectError) -> int:
    """The HTTP status that Connect answers with."""
    if isinstance(error, NotFoundError):
        return 404
    if isinstance(error, AlreadyExistsError):
        return 409
    return int(getattr(error, "status", INTERNAL_SERVER_ERROR))
