"""Protobuf files made up by hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from penstock.registry.formats.protobuf.elements import (
    MAX_ENUM_NUMBER,
    MAX_FIELD_NUMBER,
    SCALARS,
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    Group,
    Import,
    Message,
    OneOf,
    Option,
    OptionName,
    ProtoFile,
    Range,
    Reserved,
    Rpc,
    Service,
    Word,
)

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(
    lambda each: (
        each
        not in {"default", "json_name", "group", "map", "stream", "to", "option", "reserved", "inf", "nan"}
        | {
            "optional",
            "required",
            "repeated",
            "message",
            "enum",
            "oneof",
            "extend",
            "extensions",
            "rpc",
            "service",
        }
    )
)
capital_names = st.from_regex(r"[A-Z][A-Za-z0-9_]{0,6}", fullmatch=True)
dotted = st.lists(names, min_size=1, max_size=3).map(".".join)
type_names = st.one_of(st.sampled_from(sorted(SCALARS)), dotted, dotted.map(lambda each: f".{each}"))
field_numbers = st.integers(1, MAX_FIELD_NUMBER)
words = st.one_of(
    names, st.integers().map(str), st.floats(allow_nan=False, allow_infinity=False).map(repr), st.just("-inf")
).map(Word)
texts = st.one_of(
    st.text(max_size=8), st.binary(max_size=8).map(lambda each: each.decode("utf-8", "surrogateescape"))
)
values: Any = st.recursive(
    st.one_of(words, texts),
    lambda inner: st.one_of(
        st.lists(st.one_of(words, texts, st.dictionaries(names, inner, max_size=2)), max_size=3),
        st.dictionaries(st.one_of(names, dotted.map(lambda each: f"[{each}]")), inner, max_size=3),
    ),
    max_leaves=6,
)
option_names = st.one_of(names.map(OptionName), dotted.map(lambda each: OptionName(each, is_extension=True)))
options = st.lists(
    st.builds(Option, st.lists(option_names, min_size=1, max_size=3).map(tuple), values), max_size=2
)


def ranges(maximum: int) -> Any:
    numbers = st.integers(1, maximum)
    return st.one_of(numbers, st.tuples(numbers, numbers).map(lambda each: Range(min(each), max(each))))


def reserved(maximum: int) -> Any:
    each = st.lists(st.one_of(ranges(maximum), names, names.map(Word)), min_size=1, max_size=3)
    return st.lists(st.builds(Reserved, each), max_size=2)


def fields(labels: Any) -> Any:
    plain = st.builds(
        Field,
        labels,
        type_names,
        names,
        field_numbers,
        options,
        st.none(),
        st.one_of(st.none(), names),
    )
    maps = st.builds(
        Field,
        st.none(),
        st.builds(lambda key, value: f"map<{key}, {value}>", type_names, type_names),
        names,
        field_numbers,
    )
    return st.lists(st.one_of(plain, maps), max_size=3)


labels = st.sampled_from((None, "optional", "required", "repeated"))
enums = st.builds(
    Enum,
    names,
    st.lists(st.builds(Constant, names, st.integers(-(2**31), MAX_ENUM_NUMBER), options), max_size=3),
    options,
    reserved(MAX_ENUM_NUMBER),
)


def messages(depth: int) -> Any:
    inner = st.just([]) if depth == 0 else st.lists(messages(depth - 1), max_size=2)
    groups = st.just([]) if depth == 0 else st.lists(group(labels, depth - 1), max_size=1)
    oneof_groups = st.just([]) if depth == 0 else st.lists(group(st.none(), depth - 1), max_size=1)
    oneofs = st.lists(st.builds(OneOf, names, fields(st.none()), oneof_groups, options), max_size=2)
    extends = st.lists(st.builds(Extend, dotted, fields(labels), groups), max_size=1)
    extensions = st.lists(
        st.builds(Extensions, st.lists(ranges(MAX_FIELD_NUMBER), min_size=1, max_size=3), options), max_size=1
    )
    return st.builds(
        Message,
        names,
        fields(labels),
        oneofs,
        groups,
        inner,
        st.lists(enums, max_size=1),
        options,
        reserved(MAX_FIELD_NUMBER),
        extensions,
        extends,
    )


def group(label: Any, depth: int) -> Any:
    body = st.builds(
        lambda name, message: Message(name, message.fields, message.oneofs), capital_names, messages(depth)
    )
    return st.builds(Group, label, field_numbers, body, options)


rpcs = st.builds(Rpc, names, dotted, dotted, st.booleans(), st.booleans(), options)
files = st.builds(
    ProtoFile,
    st.sampled_from((None, "proto2")),
    st.none(),
    st.one_of(st.none(), dotted),
    st.lists(st.builds(Import, names.map(lambda each: f"{each}.proto")), max_size=2),
    options,
    st.lists(messages(1), max_size=2),
    st.lists(enums, max_size=2),
    st.lists(st.builds(Extend, dotted, fields(labels)), max_size=1),
    st.lists(st.builds(Service, names, st.lists(rpcs, max_size=2), options), max_size=1),
)


@st.composite
def valid_texts(draw: Any) -> str:
    """Of proto3 files that protoc would take: every type is known, every name and number is used once."""
    count = draw(st.integers(1, 3))
    known = [*sorted(SCALARS), *(f"M{index}" for index in range(count)), "E"]
    bodies = []
    for index in range(count):
        numbers = draw(st.lists(st.integers(1, 18999), unique=True, max_size=6))
        lines = [_valid_field(draw, f"f{place}", number, known) for place, number in enumerate(numbers)]
        split = draw(st.integers(0, len(lines)))
        within = [
            each
            for each in lines[split:]
            if "map<" not in each and not each.startswith(("repeated", "optional"))
        ]
        oneof = f"oneof choice {{ {' '.join(within)} }}" if within else ""
        nested = draw(
            st.sampled_from(("", "message N { M0 up = 1; E e = 2; }", "enum N { N_ZERO = 0; N_ONE = 1; }"))
        )
        bodies.append(f"message M{index} {{ {' '.join(lines[:split])} {oneof} {nested} }}")
    package = draw(st.sampled_from(("", "package p;", "package p.q;")))
    return f'syntax = "proto3"; {package} enum E {{ ZERO = 0; ONE = 1; }} {" ".join(bodies)}'


def _valid_field(draw: Any, name: str, number: int, known: list[str]) -> str:
    kind = draw(st.sampled_from(known))
    form = draw(st.sampled_from(("{} ", "{} ", "repeated {} ", "optional {} ", "map<string, {}> ")))
    return form.format(kind) + f"{name} = {number};"
