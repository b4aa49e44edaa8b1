"""Tables that are read, filtered, mapped and regrouped. Values are pairs of a new and an old row."""

from typing import Any

from penstock.pipeline.operators.base import Operator, Raw, Slice
from penstock.pipeline.operators.stores.key_value import KeyValueStore
from penstock.pipeline.plan import operations as plan


class TableSource(Operator[plan.TableSource]):
    def prepare(self) -> None:
        name = self.operation.store
        self.store: KeyValueStore | None = None if name is None else self.context.stores[name]

    def process(self, records: Slice) -> None:
        store, sends_old = self.store, self.operation.sends_old
        out: list[Raw] = []
        for key, value, timestamp, headers in records:
            if key is None:
                self.drop()
                continue
            old = None
            if store is not None:
                if sends_old:
                    old = store.get_value(key)
                store.put_row(key, value, timestamp)
            out.append((key, (value, old), timestamp, headers))
        self.forward(out)


class _Derived(Operator[Any]):
    """Of a table above; its own store, if it has one, knows its old rows."""

    store: KeyValueStore | None

    def prepare(self) -> None:
        name = self.operation.store
        self.store = None if name is None else self.context.stores[name]

    def computed(self, key: Any, row: Any) -> Any:
        raise NotImplementedError

    def process(self, records: Slice) -> None:
        store, sends_old = self.store, self.operation.sends_old
        skips_nothing = isinstance(self, TableFilter) and sends_old
        out: list[Raw] = []
        for key, (new_row, old_row), timestamp, headers in records:
            new = None if new_row is None else self.computed(key, new_row)
            old = None
            if sends_old and store is not None:
                old = store.get_value(key)
            elif sends_old and old_row is not None:
                old = self.computed(key, old_row)
            if skips_nothing and new is None and old is None:
                continue
            if store is not None:
                store.put_row(key, new, timestamp)
            out.append((key, (new, old), timestamp, headers))
        self.forward(out)


class TableFilter(_Derived):
    def computed(self, key: Any, row: Any) -> Any:
        return row if bool(self.operation.predicate(key, row)) is self.operation.keeps else None


class TableMapValues(_Derived):
    def computed(self, key: Any, row: Any) -> Any:
        return self.operation.mapper(key, row)


class TableToStream(Operator[plan.TableToStream]):
    def process(self, records: Slice) -> None:
        self.forward([(key, change[0], timestamp, headers) for key, change, timestamp, headers in records])


class RegroupTable(Operator[plan.RegroupTable]):
    def process(self, records: Slice) -> None:
        out: list[Raw] = []
        for key, (new_row, old_row), timestamp, headers in records:
            new, old = self._pair(key, new_row), self._pair(key, old_row)
            if new is not None and old is not None and new[0] == old[0]:
                out.append((new[0], (new[1], old[1]), timestamp, headers))
                continue
            if old is not None:
                out.append((old[0], (None, old[1]), timestamp, headers))
            if new is not None:
                out.append((new[0], (new[1], None), timestamp, headers))
        self.forward(out)

    def _pair(self, key: Any, row: Any) -> tuple[Any, Any] | None:
        if row is None:
            return None
        pair = self.operation.mapper(key, row)
        return None if pair is None or pair[0] is None or pair[1] is None else pair


class MergeJoined(Operator[plan.MergeJoined]):
    def prepare(self) -> None:
        name = self.operation.store
        self.store: KeyValueStore | None = None if name is None else self.context.stores[name]

    def process(self, records: Slice) -> None:
        sends_old = self.operation.sends_old
        out: list[Raw] = []
        for key, (new, old), timestamp, headers in records:
            if self.store is not None:
                self.store.put_row(key, new, timestamp)
            out.append((key, (new, old if sends_old else None), timestamp, headers))
        self.forward(out)
