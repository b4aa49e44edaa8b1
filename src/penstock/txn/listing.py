"""Which transactions ListTransactions shows."""

from collections.abc import Iterable, Iterator

import re2

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

    def select(self, transactions: Iterable[Transaction]) -> Iterator[Transaction]:
        return (transaction for transaction in transactions if self._includes(transaction))

    def _includes(self, transaction: Transaction) -> bool:
        if self._producer_ids and transaction.producer_id not in self._producer_ids:
            return False
        if self._filters_states and transaction.state not in self._states:
            return False
        if self._duration_ms >= 0 and self._now_ms - transaction.start_ms <= self._duration_ms:
            return False
        return self._pattern is None or self._pattern.fullmatch(transaction.transactional_id) is not None


def _compile(pattern: str | None) -> "re2._Regexp[str] | None":
    if not pattern:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ApiError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"Transaction ID pattern `{pattern}` is not a valid regular expression: {error}.",
        ) from error
