"""Which transactions ListTransactions shows."""

import re2

from penstock.bounded_patterns import RE2_BYTES, takes_long_to_read
from penstock.errors import ApiError, ErrorCode
from penstock.txn.transaction import STATES_BY_NAME, Transaction
from penstock.wire.messages.list_transactions import ListTransactionsRequest


class TransactionFilter:
    """What a request asks for; a filter that is empty lets everything through."""

    def __init__(self, request: ListTransactionsRequest, now_ms: int) -> None:
        self.unknown_states = [name for name in request.state_filters if name not in STATES_BY_NAME]
        self._filters_states = bool(request.state_filters)
        self._states = {STATES_BY_NAME[name] for name in request.state_filters if name in STATES_BY_NAME}
        self._producer_ids = frozenset(request.producer_id_filters)
        self._duration_ms = request.duration_filter
        self._pattern = _compile(request.transactional_id_pattern)
        self._now_ms = now_ms

    @property
    def takes_long(self) -> bool:
        """To be asked apart from the event loop: RE2 takes a second for a few long ids, and lets others run."""
        return self._pattern is not None

    def includes(self, transaction: Transaction) -> bool:
        """But for its id."""
        if self._producer_ids and transaction.producer_id not in self._producer_ids:
            return False
        if self._filters_states and transaction.state not in self._states:
            return False
        return self._duration_ms < 0 or self._now_ms - transaction.start_ms > self._duration_ms

    def includes_id(self, transactional_id: str) -> bool:
        return self._pattern is None or self._pattern.fullmatch(transactional_id) is not None


def _compile(pattern: str | None) -> "re2._Regexp[str] | None":
    if not pattern:
        return None
    if takes_long_to_read(pattern):
        raise _refusal(pattern, "pattern too large")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = RE2_BYTES
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise _refusal(pattern, error) from error


def _refusal(pattern: str, why: object) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        f"Transaction ID pattern `{pattern}` is not a valid regular expression: {why}.",
    )
