"""Joins of tables: a change of one meets the current row of the other."""

from penstock.pipeline.operators.base import NO_TIME, Operator, Raw, Slice
from penstock.pipeline.operators.views import lookup_of
from penstock.pipeline.plan import operations as plan


class JoinTables(Operator[plan.JoinTables]):
    """The right side of a left join joins whatever its own row is, even none, as long as there is a left row."""

    def prepare(self) -> None:
        self.lookup = lookup_of(self.operation.other, self.context)

    def process(self, records: Slice) -> None:
        operation = self.operation
        joiner, sends_old = operation.joiner, operation.sends_old
        needs_other = operation.kind in ("inner", "right")
        out: list[Raw] = []
        for key, (new, old), timestamp, headers in records:
            if key is None:
                self.drop()
                continue
            other, other_time = self.lookup(key) or (None, NO_TIME)
            if other is None and (needs_other or (new is None and old is None)):
                continue
            takes_none = operation.kind == "right" or (operation.kind == "outer" and other is not None)
            new_row = joiner(new, other) if takes_none or new is not None else None
            old_row = joiner(old, other) if sends_old and (takes_none or old is not None) else None
            out.append((key, (new_row, old_row), max(timestamp, other_time), headers))
        self.forward(out)


class JoinTable(Operator[plan.JoinTable]):
    """Of a stream with a table."""

    def prepare(self) -> None:
        self.lookup = lookup_of(self.operation.table, self.context)

    def process(self, records: Slice) -> None:
        operation = self.operation
        joiner, is_left, mapper = operation.joiner, operation.is_left, operation.key_mapper
        out: list[Raw] = []
        for key, value, timestamp, headers in records:
            table_key = key if mapper is None else mapper(key, value)
            if value is None or (table_key is None and not is_left):
                self.drop()
                continue
            row = None if table_key is None else self.lookup(table_key)
            if row is not None or is_left:
                joined = joiner(key, value, None if row is None else row[0])
                out.append((key, joined, timestamp, headers))
        self.forward(out)
