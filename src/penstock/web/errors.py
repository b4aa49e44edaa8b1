"""Errors as Confluent's services send them: `{"error_code": 40401, "message": "Subject 'a' not found."}`."""

from collections.abc import Mapping
from http import HTTPStatus

from penstock.errors import PenstockError


class HttpError(PenstockError):
    """A request that ends in an error; `error_code` is the service's own, often the status with two more digits."""

    def __init__(
        self,
        status: int,
        error_code: int | None = None,
        message: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.error_code = status if error_code is None else error_code
        self.message = f"HTTP {status} {HTTPStatus(status).phrase}" if message is None else message
        self.headers = dict(headers or {})
        super().__init__(self.message)


class BodyRefused(HttpError):
    """Of which more may be on its way."""


class BodyTooSlow(BodyRefused):
    def __init__(self, timeout_ms: int) -> None:
        super().__init__(
            408, 408, f"The body of the request did not come within {timeout_ms} ms, or at a fair pace"
        )


class BodyTooLarge(BodyRefused):
    """Refused before it was read whole; what is still on its way is not kept."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(413, 413, f"Request body is too large; takes at most {limit_bytes} bytes")


def unavailable(
    message: str, *, retry_after_seconds: int, status: int = 503, error_code: int | None = None
) -> HttpError:
    """What the service stands on cannot be reached now."""
    return HttpError(status, error_code, message, {"retry-after": str(retry_after_seconds)})
