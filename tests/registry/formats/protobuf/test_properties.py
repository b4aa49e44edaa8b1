"""What holds for every schema."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.registry.formats.protobuf import parse
from penstock.registry.formats.protobuf.elements import ProtoFile
from penstock.registry.formats.protobuf.option_values import pool_of
from penstock.registry.formats.protobuf.parser import parse_text
from penstock.registry.formats.protobuf.printer import print_file
from penstock.registry.formats.schema_format import InvalidSchema
from tests.registry.formats.protobuf.strategies import files, valid_texts
from tests.support.examples import examples

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@given(files)
@settings(SLOW, max_examples=examples(25))
def test_what_is_printed_is_read_again(file: ProtoFile) -> None:
    assert parse_text(print_file(file)) == file


@given(files)
@settings(SLOW, max_examples=examples(25))
def test_the_normal_form_is_final(file: ProtoFile) -> None:
    once = parse(print_file(file), {}, is_new=False).normalized().canonical()
    assert parse(once, {}, is_new=False).normalized().canonical() == once


@given(st.text(alphabet='message enumA{}=1;,"\\[]()<>.-/*\n ', max_size=60))
@settings(SLOW, max_examples=examples(150))
def test_any_text_is_a_schema_or_invalid(text: str) -> None:
    try:
        schema = parse(text, {})
    except InvalidSchema:
        return
    assert parse(schema.canonical(), {}).canonical() == schema.canonical()


@given(st.binary(max_size=60))
@settings(SLOW, max_examples=examples(60))
def test_any_bytes_are_a_schema_or_invalid(raw: bytes) -> None:
    try:
        parse(base64.b64encode(raw).decode(), {})
    except InvalidSchema:
        pass


@given(valid_texts())
@settings(SLOW, max_examples=examples(30))
def test_the_library_takes_what_is_valid(text: str) -> None:
    schema = parse(text, {})
    assert pool_of(schema.descriptors())
    assert schema.incompatibilities_with(schema) == []
    forms = [parse(schema.canonical(), {}), parse(schema.formatted("serialized"), {}), schema.normalized()]
    for each in forms:
        assert _fields(each) == _fields(schema)
        assert each.incompatibilities_with(schema) == schema.incompatibilities_with(each) == []
        assert each.normalized().canonical() == schema.normalized().canonical()


@given(valid_texts(), valid_texts())
@settings(SLOW, max_examples=examples(30))
def test_a_verdict_does_not_depend_on_the_form(writer_text: str, reader_text: str) -> None:
    writer, reader = parse(writer_text, {}), parse(reader_text, {})
    verdict = sorted((each.kind, each.path) for each in reader.incompatibilities_with(writer))
    for other in (
        parse(writer.canonical(), {}),
        parse(writer.formatted("serialized"), {}),
        writer.normalized(),
    ):
        again = reader.incompatibilities_with(other)
        assert sorted((each.kind, each.path) for each in again) == verdict


def _fields(schema: Any) -> list[tuple[str, ...]]:
    pool = pool_of(schema.descriptors())
    file = pool.FindFileByName("default")
    found: list[tuple[str, ...]] = []

    def collect(message: Any) -> None:
        for each in message.fields:
            target = each.message_type or each.enum_type
            oneof = each.containing_oneof.name if each.containing_oneof else ""
            found.append(
                (
                    each.full_name,
                    str(each.number),
                    str(each.type),
                    target.full_name if target else "",
                    oneof,
                    str(each.is_repeated),
                )
            )
        for inner in message.nested_types:
            collect(inner)

    for message in file.message_types_by_name.values():
        collect(message)
    return sorted(found)
