"""Which values may be the default of a field."""

from typing import Any

from penstock.registry.formats.avro.types import Array, AvroType, Record, Union

_BOUNDS = {"int": 2**31, "long": 2**63}


def is_valid_default(of: AvroType, value: Any) -> bool:
    if isinstance(of, Union):
        return any(is_valid_default(branch, value) for branch in of.branches)
    if of.kind in _BOUNDS:
        bound = _BOUNDS[of.kind]
        return isinstance(value, int) and not isinstance(value, bool) and -bound <= value < bound
    if isinstance(of, Array):
        return _are_elements(of, value)
    if isinstance(of, Record):
        return isinstance(value, dict) and all(
            is_valid_default(field.type, value.get(field.name, field.default)) for field in of.fields
        )
    return _is_plain(of.kind, value)


def _are_elements(of: Array, value: Any) -> bool:
    if of.kind == "array":
        return isinstance(value, list) and all(is_valid_default(of.element, one) for one in value)
    return isinstance(value, dict) and all(is_valid_default(of.element, one) for one in value.values())


def _is_plain(kind: str, value: Any) -> bool:
    if kind in ("string", "bytes", "enum", "fixed"):
        return isinstance(value, str)
    if kind in ("float", "double"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    return kind == "null" and value is None
