"""Aggregates of streams without windows, and those of regrouped tables: the old row out, the new row in."""

from penstock.pipeline.operators.base import Operator, Raw, Slice
from penstock.pipeline.operators.stores.key_value import KeyValueStore
from penstock.pipeline.plan import operations as plan


class AggregateStream(Operator[plan.AggregateStream]):
    def prepare(self) -> None:
        self.store: KeyValueStore = self.context.stores[self.operation.store]

    def process(self, records: Slice) -> None:
        store, operation = self.store, self.operation
        aggregator, sends_old = operation.aggregator, operation.sends_old
        out: list[Raw] = []
        for key, value, timestamp, headers in records:
            if key is None or value is None:
                self.drop()
                continue
            encoded = store.key_bytes(key)
            row = store.row_of(encoded)
            if row is None:
                old = operation.initializer()
            else:
                old, timestamp = row[0], max(timestamp, row[1])
            new = aggregator(key, value, old)
            store.put_row_of(encoded, new, timestamp)
            out.append((key, (new, old if sends_old else None), timestamp, headers))
        self.forward(out)


class ReduceStream(Operator[plan.ReduceStream]):
    def prepare(self) -> None:
        self.store: KeyValueStore = self.context.stores[self.operation.store]

    def process(self, records: Slice) -> None:
        store, reducer, sends_old = self.store, self.operation.reducer, self.operation.sends_old
        out: list[Raw] = []
        for key, value, timestamp, headers in records:
            if key is None or value is None:
                self.drop()
                continue
            encoded = store.key_bytes(key)
            row = store.row_of(encoded)
            if row is None:
                old, new = None, value
            else:
                old, timestamp = row[0], max(timestamp, row[1])
                new = reducer(old, value)
            store.put_row_of(encoded, new, timestamp)
            out.append((key, (new, old if sends_old else None), timestamp, headers))
        self.forward(out)


class TableAggregate(Operator[plan.TableAggregate]):
    def prepare(self) -> None:
        self.store: KeyValueStore = self.context.stores[self.operation.store]

    def process(self, records: Slice) -> None:
        store, operation = self.store, self.operation
        out: list[Raw] = []
        for key, (new_row, old_row), timestamp, headers in records:
            row = store.row(key)
            old, stored_at = row or (None, timestamp)
            new, changed_at = old, timestamp
            if old_row is not None and old is not None:
                new = operation.subtractor(key, old_row, old)
                changed_at = max(timestamp, stored_at)
            if new_row is not None:
                new = operation.adder(key, new_row, operation.initializer() if new is None else new)
                changed_at = max(timestamp, stored_at)
            store.put_row(key, new, changed_at)
            out.append((key, (new, old if operation.sends_old else None), changed_at, headers))
        self.forward(out)


class TableReduce(Operator[plan.TableReduce]):
    def prepare(self) -> None:
        self.store: KeyValueStore = self.context.stores[self.operation.store]

    def process(self, records: Slice) -> None:
        store, operation = self.store, self.operation
        out: list[Raw] = []
        for key, (new_row, old_row), timestamp, headers in records:
            old, stored_at = store.row(key) or (None, timestamp)
            new, changed_at = old, timestamp
            if old_row is not None and old is not None:
                new = operation.subtractor(old, old_row)
                changed_at = max(timestamp, stored_at)
            if new_row is not None and new is not None:
                new = operation.adder(new, new_row)
                changed_at = max(timestamp, stored_at)
            elif new_row is not None:
                new = new_row
            store.put_row(key, new, changed_at)
            out.append((key, (new, old if operation.sends_old else None), changed_at, headers))
        self.forward(out)
