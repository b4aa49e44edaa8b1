"""Error codes of the transactional APIs that came with a version."""

from penstock.errors import ErrorCode


def known_to(version: int, code: ErrorCode, *, first_with_fenced: int) -> ErrorCode:
    """PRODUCER_FENCED, or for clients that don't know it yet what was said before."""
    if code == ErrorCode.PRODUCER_FENCED and version < first_with_fenced:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
