"""Avro's rules of schema resolution: whether a reader's schema can read what a writer's schema wrote.

The reasons have the kinds, places and words of Avro's Java library, which registries pass on. A pair of types is looked
at once, so that types that stand inside themselves come to an end; a reason is told for the place that met it first.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from penstock.registry.formats.avro.types import Array, AvroType, Enum, Field, Fixed, Named, Record, Union
from penstock.registry.formats.effort import count_pair
from penstock.registry.formats.schema_format import Incompatibility

_PROMOTIONS = {
    "long": {"int"},
    "float": {"int", "long"},
    "double": {"int", "long", "float"},
    "bytes": {"string"},
    "string": {"bytes"},
}

Reasons = list[Incompatibility]


def incompatibilities(reader: AvroType, writer: AvroType) -> Reasons:
    return _Comparison().compare(reader, writer, "")


class _Comparison:
    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Reasons] = {}
        self._branches: dict[int, dict[str, AvroType]] = {}
        self._fields: dict[int, dict[str, tuple[int, Field]]] = {}

    def compare(self, reader: AvroType, writer: AvroType, at: str) -> Reasons:
        pair = (id(reader), id(writer))
        if pair not in self._known:
            count_pair()
            self._known[pair] = []  # compatible as far as a type inside itself is concerned
            self._known[pair] = self._compare(reader, writer, at)
        return self._known[pair]

    def _compare(self, reader: AvroType, writer: AvroType, at: str) -> Reasons:
        if isinstance(writer, Union):
            return self._with_union(reader, writer, at)
        if isinstance(reader, Union):
            if any(not self.compare(branch, writer, "") for branch in self._likeliest_first(reader, writer)):
                return []
            return [_missing_branch(writer, at)]
        if reader.kind != writer.kind:
            if writer.kind in _PROMOTIONS.get(reader.kind, ()):
                return []
            return [_mismatch(reader, writer, at)]
        return self._same_kind(reader, writer, at)

    def _with_union(self, reader: AvroType, writer: Union, at: str) -> Reasons:
        reasons: Reasons = []
        for index, branch in enumerate(writer.branches):
            if not isinstance(reader, Union):
                reasons += self.compare(reader, branch, f"{at}/{index}")
            elif self.compare(reader, branch, ""):
                reasons.append(_missing_branch(branch, f"{at}/{index}"))
        return reasons

    def _same_kind(self, reader: AvroType, writer: AvroType, at: str) -> Reasons:
        if isinstance(reader, Array) and isinstance(writer, Array):
            key = "items" if reader.kind == "array" else "values"
            return self.compare(reader.element, writer.element, f"{at}/{key}")
        if not (isinstance(reader, Named) and isinstance(writer, Named)):
            return []
        reasons = _name_reasons(reader, writer, at)
        if isinstance(reader, Fixed) and isinstance(writer, Fixed):
            reasons += _size_reasons(reader, writer, at)
        elif isinstance(reader, Enum) and isinstance(writer, Enum):
            reasons += _symbol_reasons(reader, writer, at)
        elif isinstance(reader, Record) and isinstance(writer, Record):
            reasons += self._field_reasons(reader, writer, at)
        return reasons

    def _field_reasons(self, reader: Record, writer: Record, at: str) -> Reasons:
        reasons: Reasons = []
        for index, field in enumerate(reader.fields):
            place = f"{at}/fields/{index}"
            written = self._written_field(field, writer)
            if written is not None:
                reasons += self.compare(field.type, written.type, f"{place}/type")
            elif not field.has_default:
                reasons += self._without_default(field, writer, place)
        return reasons

    def _likeliest_first(self, reader: Union, writer: AvroType) -> Iterator[AvroType]:
        """The branch of the same name, then all: so each of many records is compared with one."""
        if isinstance(writer, Named):
            if id(reader) not in self._branches:
                named = (branch for branch in reader.branches if isinstance(branch, Named))
                self._branches[id(reader)] = {branch.name.full: branch for branch in named}
            namesake = self._branches[id(reader)].get(writer.name.full)
            if namesake is not None:
                yield namesake
        yield from reader.branches

    def _written_field(self, field: Field, writer: Record) -> Field | None:
        """The first that has the field's name or one of its aliases."""
        if id(writer) not in self._fields:
            self._fields[id(writer)] = {each.name: (at, each) for at, each in enumerate(writer.fields)}
        written = self._fields[id(writer)]
        found = [written[name] for name in {field.name, *field.aliases} if name in written]
        return min(found, key=itemgetter(0))[1] if found else None

    def _without_default(self, field: Field, writer: Record, at: str) -> Reasons:
        """A field that nobody wrote. The default of an enum is for symbols, not for fields; Java compares it so."""
        if isinstance(field.type, Enum) and field.type.default is not None:
            return self.compare(field.type, writer, f"{at}/type")
        message = (
            f"The field '{field.name}' at path '{at}' in the %s schema has no default value "
            "and is missing in the %s schema"
        )
        return [Incompatibility("READER_FIELD_MISSING_DEFAULT_VALUE", message, at, field.name)]


def _name_reasons(reader: Named, writer: Named, at: str) -> Reasons:
    if reader.name.name == writer.name.name or writer.name in reader.aliases:
        return []
    place = f"{at}/name"
    message = f"The name of the schema has changed (path '{place}')"
    return [Incompatibility("NAME_MISMATCH", message, place, f"expected: {writer.name.full}")]


def _size_reasons(reader: Fixed, writer: Fixed, at: str) -> Reasons:
    if reader.size == writer.size:
        return []
    place = f"{at}/size"
    message = (
        f"The size of FIXED type field at path '{place}' in the %s schema does not match with the %s schema"
    )
    info = f"expected: {writer.size}, found: {reader.size}"
    return [Incompatibility("FIXED_SIZE_MISMATCH", message, place, info)]


def _symbol_reasons(reader: Enum, writer: Enum, at: str) -> Reasons:
    missing = sorted(set(writer.symbols) - set(reader.symbols))
    if not missing or reader.default is not None:
        return []
    place, shown = f"{at}/symbols", f"[{', '.join(missing)}]"
    message = f"The %s schema is missing enum symbols '{shown}' at path '{place}' in the %s schema"
    return [Incompatibility("MISSING_ENUM_SYMBOLS", message, place, shown)]


def _missing_branch(writer: AvroType, at: str) -> Incompatibility:
    place = at or "/"
    message = f"The %s schema is missing a type inside a union field at path '{place}' in the %s schema"
    info = f"reader union lacking writer type: {writer.kind.upper()}"
    return Incompatibility("MISSING_UNION_BRANCH", message, place, info)


def _mismatch(reader: AvroType, writer: AvroType, at: str) -> Incompatibility:
    place = at or "/"
    message = f"The type (path '{place}') of a field in the %s schema does not match with the %s schema"
    info = f"reader type: {reader.kind.upper()} not compatible with writer type: {writer.kind.upper()}"
    return Incompatibility("TYPE_MISMATCH", message, place, info)
