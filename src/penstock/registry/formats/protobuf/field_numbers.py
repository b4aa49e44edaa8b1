"""Numbers of the fields of a message: their range, no two alike, none reserved."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from penstock.registry.formats.protobuf.elements import MAX_FIELD_NUMBER, Field, Group, Message, Range, Word

_IMPLEMENTATION_NUMBERS = range(19000, 20000)

Fail = Callable[[int, str], NoReturn]


def number_range(value: int | Range) -> Range:
    return value if isinstance(value, Range) else Range(value, value)


def check_field_numbers(message: Message, fail: Fail) -> None:
    members: list[Field | Group] = message.members
    for oneof in message.oneofs:
        members += oneof.members
    for extend in message.extends:
        for member in extend.members:
            _check_number(member, fail)
    ranges = _checked_ranges(message, fail)
    names = _reserved_names(message)
    taken: dict[int, str] = {}
    for member in sorted(members, key=lambda each: each.at):
        _check_number(member, fail)
        if member.number in taken:
            fail(
                member.number_at,
                f"{member.name} has the number {member.number}, as {taken[member.number]} has",
            )
        taken[member.number] = member.name
        if member.name in names:
            fail(member.at, f"the name {member.name} is reserved in message {message.name}")
        for numbers, what in ranges:
            if numbers.start <= member.number <= numbers.end:
                fail(member.number_at, f"the number {member.number} is {what} in message {message.name}")


def _check_number(member: Field | Group, fail: Fail) -> None:
    if not 1 <= member.number <= MAX_FIELD_NUMBER:
        fail(
            member.number_at,
            f"the number of {member.name} is {member.number}, expected 1 to {MAX_FIELD_NUMBER}",
        )
    if member.number in _IMPLEMENTATION_NUMBERS:
        fail(
            member.number_at,
            f"the number of {member.name} is {member.number}; 19000 to 19999 are for Protobuf itself",
        )


def _checked_ranges(message: Message, fail: Fail) -> list[tuple[Range, str]]:
    found: list[tuple[Range, str]] = []
    for what, elements in (("reserved", message.reserved), ("for extensions", message.extensions)):
        for element in elements:
            for value in element.values:
                if not isinstance(value, str | Word):
                    _add_range(found, number_range(value), what, element.at, fail)
    return found


def _add_range(found: list[tuple[Range, str]], numbers: Range, what: str, at: int, fail: Fail) -> None:
    if not 1 <= numbers.start <= numbers.end <= MAX_FIELD_NUMBER:
        fail(at, f"{numbers.start} to {numbers.end} is no range within 1 to {MAX_FIELD_NUMBER}")
    for other, other_what in found:
        if numbers.start <= other.end and other.start <= numbers.end:
            fail(at, f"{numbers.start} to {numbers.end} overlaps {other.start} to {other.end}, {other_what}")
    found.append((numbers, what))


def _reserved_names(message: Message) -> set[str]:
    values = [value for each in message.reserved for value in each.values]
    return {each.text if isinstance(each, Word) else each for each in values if isinstance(each, str | Word)}
