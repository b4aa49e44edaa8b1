"""Operators without state."""

from penstock.pipeline.operators.base import Operator, Raw, Slice
from penstock.pipeline.plan import operations as plan


class FilterRecords(Operator[plan.FilterRecords]):
    def process(self, records: Slice) -> None:
        predicate, keeps = self.operation.predicate, self.operation.keeps
        if keeps:
            self.forward([record for record in records if predicate(record[0], record[1])])
        else:
            self.forward([record for record in records if not predicate(record[0], record[1])])


class KeepKeyed(Operator[plan.KeepKeyed]):
    def process(self, records: Slice) -> None:
        if self.operation.keeps_all:
            self.forward(records)
        else:
            self.forward([record for record in records if record[0] is not None])


class MapRecords(Operator[plan.MapRecords]):
    def process(self, records: Slice) -> None:
        mapper = self.operation.mapper
        self.forward(
            [(*mapper(key, value), timestamp, headers) for key, value, timestamp, headers in records]
        )


class SelectKey(Operator[plan.SelectKey]):
    def process(self, records: Slice) -> None:
        mapper = self.operation.mapper
        self.forward(
            [(mapper(key, value), value, timestamp, headers) for key, value, timestamp, headers in records]
        )


class MapValues(Operator[plan.MapValues]):
    def process(self, records: Slice) -> None:
        mapper = self.operation.mapper
        if self.operation.with_key:
            mapped: list[Raw] = [
                (key, mapper(key, value), timestamp, headers) for key, value, timestamp, headers in records
            ]
        else:
            mapped = [(key, mapper(value), timestamp, headers) for key, value, timestamp, headers in records]
        self.forward(mapped)


class FlatMap(Operator[plan.FlatMap]):
    def process(self, records: Slice) -> None:
        mapper = self.operation.mapper
        self.forward(
            [
                (new_key, new_value, timestamp, headers)
                for key, value, timestamp, headers in records
                for new_key, new_value in mapper(key, value)
            ]
        )


class FlatMapValues(Operator[plan.FlatMapValues]):
    def process(self, records: Slice) -> None:
        mapper, with_key = self.operation.mapper, self.operation.with_key
        self.forward(
            [
                (key, new_value, timestamp, headers)
                for key, value, timestamp, headers in records
                for new_value in (mapper(key, value) if with_key else mapper(value))
            ]
        )


class Peek(Operator[plan.Peek]):
    def process(self, records: Slice) -> None:
        action = self.operation.action
        for key, value, _, _ in records:
            action(key, value)
        if self.operation.forwards:
            self.forward(records)


class Branch(Operator[plan.Branch]):
    one_record_at_a_time = True

    def process(self, records: Slice) -> None:
        by_name = {child.name: child for child in self.children}
        names, predicates = self.operation.children, self.operation.predicates
        for record in records:
            taken = (number for number, takes in enumerate(predicates) if takes(record[0], record[1]))
            number = next(taken, len(predicates))
            if number < len(names):
                by_name[names[number]].process((record,))


class PassThrough(Operator[plan.PassThrough]):
    def process(self, records: Slice) -> None:
        self.forward(records)
