"""How rows of a table are looked up, made from a view of the plan."""

from typing import Any, assert_never

from penstock.pipeline.operators.base import NO_TIME, Lookup, TaskContext
from penstock.pipeline.operators.stores.key_value import KeyValueStore
from penstock.pipeline.operators.stores.session import SessionStore
from penstock.pipeline.operators.stores.suppression import SuppressionBuffer
from penstock.pipeline.operators.stores.window import WindowStore
from penstock.pipeline.plan.views import FilterView, JoinView, MapView, StoreView, SuppressedView, View

Row = tuple[Any, int]


def lookup_of(view: View, context: TaskContext) -> Lookup:
    match view:
        case StoreView():
            return _in_store(context.stores[view.store])
        case FilterView():
            return _filtered(view, lookup_of(view.parent, context))
        case MapView():
            return _mapped(view, lookup_of(view.parent, context))
        case JoinView():
            return _joined(view, lookup_of(view.this, context), lookup_of(view.other, context))
        case SuppressedView():
            return _suppressed(context.stores[view.buffer], lookup_of(view.parent, context))
    raise AssertionError(view)


def _in_store(store: KeyValueStore | WindowStore | SessionStore) -> Lookup:
    match store:
        case KeyValueStore():
            return store.row
        case WindowStore():
            return lambda key: store.row_at(key.key, key.window.start_ms)
        case SessionStore():
            return _session_lookup(store)
    assert_never(store)


def _session_lookup(store: SessionStore) -> Lookup:
    def lookup(key: Any) -> Row | None:
        value = store.fetch_session(key.key, *key.window)
        return None if value is None else (value, key.window.end_ms)

    return lookup


def _filtered(view: FilterView, parent: Lookup) -> Lookup:
    def lookup(key: Any) -> Row | None:
        row = parent(key)
        return row if row is not None and bool(view.predicate(key, row[0])) is view.keeps else None

    return lookup


def _mapped(view: MapView, parent: Lookup) -> Lookup:
    def lookup(key: Any) -> Row | None:
        row = parent(key)
        return None if row is None else _made(view.mapper(key, row[0]), row[1])

    return lookup


def _made(value: Any, timestamp: int) -> Row | None:
    return None if value is None else (value, timestamp)


def _joined(view: JoinView, this: Lookup, other: Lookup) -> Lookup:
    needs_this, needs_other = _needs(view)

    def lookup(key: Any) -> Row | None:
        mine = this(key)
        if mine is None and needs_this:
            return None
        theirs = other(key)
        if (theirs is None and needs_other) or (mine is None and theirs is None):
            return None
        own, own_time = mine or (None, NO_TIME)
        their_row, their_time = theirs or (None, NO_TIME)
        return _made(view.joiner(own, their_row), max(own_time, their_time))

    return lookup


def _needs(view: JoinView) -> tuple[bool, bool]:
    return view.kind in ("inner", "left"), view.kind in ("inner", "right")


def _suppressed(buffer: SuppressionBuffer, parent: Lookup) -> Lookup:
    def lookup(key: Any) -> Row | None:
        is_held, prior = buffer.prior_row(key)
        return _made(prior, NO_TIME) if is_held else parent(key)

    return lookup
