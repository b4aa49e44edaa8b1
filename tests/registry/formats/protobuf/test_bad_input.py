"""What is wrong with a schema is said in one line with its place."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from google.protobuf import descriptor_pb2

from penstock.registry.formats.protobuf import parse
from penstock.registry.formats.schema_format import InvalidSchema
from tests.support.rows import each_row

SYNTAX = [
    ("message", "line 1, column 8: expected the name of a message, got the end of the text"),
    ("message M {", "line 1, column 12: expected the type of a field, got the end of the text"),
    ("message M { string a = 1 }", "line 1, column 26: expected ';', got '}'"),
    ("message M { string = 1; }", "line 1, column 20: expected the name of a field, got '='"),
    ("message M { string a 1; }", "line 1, column 22: expected '=', got '1'"),
    ("message M { string a = one; }", "line 1, column 24: expected the number of a field, got 'one'"),
    ("message M { string a = 1.5; }", "line 1, column 24: expected the number of a field, got '1.5'"),
    (
        "message M {}\n}",
        "line 2, column 1: expected message, enum, extend, service, import, package or option, got '}'",
    ),
    (
        'message M {\n\n  string s = 1 [json_name = "x];\n}',
        "line 3, column 29: a string has no end on its line",
    ),
    ("message M {} /* and so on", "line 1, column 14: a comment has no end"),
    ('syntax = "proto4";', "line 1, column 10: unknown syntax 'proto4', expected one of proto2, proto3"),
    (
        'message M {} syntax = "proto3";',
        "line 1, column 14: 'syntax' must be the first statement, and the only one",
    ),
    (
        'syntax = "proto3"; syntax = "proto3";',
        "line 1, column 20: 'syntax' must be the first statement, and the only one",
    ),
    ("package a; package b;", "line 1, column 20: a second package"),
    ("package .a;", "line 1, column 9: the name of a package starts with no dot"),
    ("import x;", "line 1, column 8: expected the path of a file, in quotes, got 'x'"),
    ("service S { get (M) returns (M); }", "line 1, column 13: expected rpc or option, got 'get'"),
    ("service S { rpc R (M) returns M; }", "line 1, column 31: expected '(', got 'M'"),
    ("option a = ;", "line 1, column 12: expected a value, got ';'"),
    ("option a = {b 1};", "line 1, column 15: expected ':', got '1'"),
    ("option a = [1 2];", "line 1, column 15: expected ',' or ']', got '2'"),
    ("option (a = 1;", "line 1, column 11: expected ')', got '='"),
    ("option a = -b;", "line 1, column 13: expected a value, got 'b'"),
    (r'option a = "\q";', r"line 1, column 12: \q is no escape sequence"),
    (r'option a = "\ud800";', "line 1, column 12: d800 is no Unicode code point"),
    ("enum E { A = 0 B = 1; }", "line 1, column 16: expected ';', got 'B'"),
    ("message M { reserved 1 2; }", "line 1, column 24: expected ',' or ';', got '2'"),
    (
        "message M { oneof o { repeated int32 a = 1; } }",
        "line 1, column 23: a field in a oneof has no label such as 'repeated'",
    ),
    (
        'syntax = "proto3"; message M { required int32 a = 1; }',
        "line 1, column 32: proto3 has no required fields",
    ),
    ("message M { repeated map<int32, int32> a = 1; }", "line 1, column 13: a map has no label"),
    (
        "message M { optional group g = 1 {} }",
        "line 1, column 28: the name of a group starts with a capital letter, not 'g'",
    ),
    (
        "message M { optional int32 a = 1 [default = {}]; }",
        "line 1, column 35: the default of a is a single value",
    ),
    ("message A {" * 70 + "}" * 70, "line 1, column 713: messages are nested more than 64 deep"),
    (
        "option a = " + "{a: " * 70 + "1" + "}" * 70 + ";",
        "line 1, column 272: values are nested more than 64 deep",
    ),
    ("message 5 {}", "line 1, column 9: expected the name of a message, got '5'"),
    (
        "mässage M {}",
        "line 1, column 1: expected message, enum, extend, service, import, package or option, got 'm'",
    ),
    (
        "not a schema at all",
        "line 1, column 1: expected message, enum, extend, service, import, package or option, got 'not'",
    ),
]


def _m(fields: str) -> str:
    return f'syntax = "proto3";\nmessage M {{\n  {fields}\n}}'


def _m2(fields: str) -> str:
    return f'syntax = "proto2";\nmessage M {{\n  {fields}\n}}'


RULES = [
    (_m("int32 a = 1; int32 a = 2;"), "line 3, column 22: M.a is defined twice"),
    (_m("int32 a = 1; int32 b = 1;"), "line 3, column 26: b has the number 1, as a has"),
    (_m("int32 a = 1; oneof o { int32 b = 1; }"), "line 3, column 36: b has the number 1, as a has"),
    (_m("int32 a = 1; oneof a { int32 b = 2; }"), "line 3, column 22: M.a is defined twice"),
    (_m("int32 a = 0;"), "line 3, column 13: the number of a is 0, expected 1 to 536870911"),
    (_m("int32 a = -1;"), "line 3, column 13: the number of a is -1, expected 1 to 536870911"),
    (_m("int32 a = 536870912;"), "line 3, column 13: the number of a is 536870912, expected 1 to 536870911"),
    (
        _m("int32 a = 19000;"),
        "line 3, column 13: the number of a is 19000; 19000 to 19999 are for Protobuf itself",
    ),
    (
        _m("int32 a = 19999;"),
        "line 3, column 13: the number of a is 19999; 19000 to 19999 are for Protobuf itself",
    ),
    (_m("reserved 1; int32 a = 1;"), "line 3, column 25: the number 1 is reserved in message M"),
    (_m("reserved 2 to 5; int32 a = 5;"), "line 3, column 30: the number 5 is reserved in message M"),
    (_m("reserved 2 to max; int32 a = 5000;"), "line 3, column 32: the number 5000 is reserved in message M"),
    (_m('reserved "a"; int32 a = 1;'), "line 3, column 23: the name a is reserved in message M"),
    (_m("reserved 5 to 2;"), "line 3, column 12: 5 to 2 is no range within 1 to 536870911"),
    (_m("reserved 0;"), "line 3, column 12: 0 to 0 is no range within 1 to 536870911"),
    (_m("reserved 1 to 5; reserved 3;"), "line 3, column 29: 3 to 3 overlaps 1 to 5, reserved"),
    (_m("Missing a = 1;"), "line 3, column 3: unknown type Missing"),
    (_m("repeated a.b.Missing a = 1;"), "line 3, column 12: unknown type a.b.Missing"),
    (_m("map<string, Missing> a = 1;"), "line 3, column 3: unknown type Missing"),
    (
        _m("map<float, string> a = 1;"),
        "line 3, column 3: the keys of a map are integers, bool or string, not float",
    ),
    (_m("map<M, string> a = 1;"), "line 3, column 3: the keys of a map are integers, bool or string, not M"),
    (
        _m("oneof o { map<int32, int32> a = 1; }"),
        "line 3, column 13: a map is a field of a message only, not of a oneof or an extension",
    ),
    (_m("oneof o {}"), "line 3, column 9: oneof o has no fields"),
    (_m("int32 a = 1 [default = 5];"), "line 3, column 9: field a has a default; proto3 has none"),
    (_m("extensions 100 to 200;"), "line 3, column 14: proto3 has no extension ranges"),
    (_m("optional group G = 1 {}"), "line 3, column 12: groups are only in proto2"),
    (_m("message A {} message A {}"), "line 3, column 24: M.A is defined twice"),
    (_m("message A {} enum A { X = 0; }"), "line 3, column 21: M.A is defined twice"),
    (_m("enum E {}"), "line 3, column 8: enum E has no constants"),
    (_m("enum E { A = 1; }"), "line 3, column 12: the first constant of enum E must be zero"),
    (
        _m("enum E { A = 0; B = 0; }"),
        "line 3, column 19: B has the number of A; option allow_alias = true allows it",
    ),
    (_m("enum E { A = 0; A = 1; }"), "line 3, column 19: M.A is defined twice"),
    (_m("enum E { A = 0; } enum F { A = 0; }"), "line 3, column 30: M.A is defined twice"),
    (_m("enum E { A = 0; B = 2147483648; }"), "line 3, column 19: the number of B is not one of 32 bits"),
    (
        _m("enum E { A = 0; B = 5; reserved 4 to max; }"),
        "line 3, column 19: the number 5 is reserved in enum E",
    ),
    (_m('enum E { A = 0; B = 5; reserved "B"; }'), "line 3, column 19: the name B is reserved in enum E"),
    (
        _m2("int32 a = 1;"),
        "line 3, column 3: field a needs a label in proto2: optional, required or repeated",
    ),
    (_m2("optional int32 a = 1 [default = 1.5];"), "line 3, column 18: the default of a must be an integer"),
    (
        _m2("optional int32 a = 1 [default = 2147483648];"),
        "line 3, column 18: the default of a must be -2147483648 to 2147483647",
    ),
    (
        _m2("optional uint32 a = 1 [default = -1];"),
        "line 3, column 19: the default of a must be 0 to 4294967295",
    ),
    (
        _m2('optional bool a = 1 [default = "true"];'),
        "line 3, column 17: the default of a must be true or false",
    ),
    (
        _m2("optional string a = 1 [default = x];"),
        "line 3, column 19: the default of a must be a string in quotes",
    ),
    (_m2("optional double a = 1 [default = x];"), "line 3, column 19: the default of a must be a number"),
    (
        _m2("optional M a = 1 [default = x];"),
        "line 3, column 14: the default of a must be absent, since its type is a message",
    ),
    (
        _m2("enum E { X = 1; Y = 2; } optional E a = 1 [default = Z];"),
        "line 3, column 39: the default of a must be one of X, Y",
    ),
    (_m2("repeated int32 a = 1 [default = 1];"), "line 3, column 18: field a is repeated and has no default"),
    (
        _m2("extensions 5; optional int32 a = 5;"),
        "line 3, column 36: the number 5 is for extensions in message M",
    ),
    (_m2("extensions 5 to 10; reserved 7;"), "line 3, column 14: 5 to 10 overlaps 7 to 7, reserved"),
    (
        _m2("extend M { optional int32 a = 5; }"),
        "line 3, column 33: M does not declare 5 as an extension number",
    ),
    (
        _m2("extensions 5; extend M { required int32 a = 5; }"),
        "line 3, column 43: extension a must not be required",
    ),
    (_m2("extend M {}"), "line 3, column 10: extend M has no fields"),
    (_m2("enum E { X = 1; } extend E { optional int32 a = 5; }"), "line 3, column 28: E is not a message"),
    (_m2("optional group G = 1 { optional Missing a = 1; }"), "line 3, column 35: unknown type Missing"),
    (
        'syntax = "proto3"; message M {} extend M { int32 a = 5; }',
        "line 1, column 40: proto3 extends the options of google.protobuf only",
    ),
    ("message M {} service S { rpc R (Missing) returns (M); }", "line 1, column 30: unknown type Missing"),
    (
        "message M {} enum E { X = 1; } service S { rpc R (E) returns (M); }",
        "line 1, column 48: E is not a message",
    ),
    ("message M {} service M {}", "line 1, column 22: M is defined twice"),
    ('edition = "1999"; message M {}', "line 1, column 1: unknown edition '1999'"),
    (
        'import "missing.proto"; message M { optional Missing a = 1; }',
        "line 1, column 46: unknown type Missing (no reference has the name of the import missing.proto)",
    ),
    (
        "message M { optional google.protobuf.Timestamp a = 1; }",
        "line 1, column 22: type google.protobuf.Timestamp is defined in google/protobuf/timestamp.proto, "
        "which is not imported",
    ),
    (
        'import "a.proto"; message M { optional a.Other.Missing a = 1; }',
        "line 1, column 40: unknown type a.Other.Missing",
    ),
    (
        'import "a.proto"; message M { optional b.Hidden a = 1; }',
        "line 1, column 40: type b.Hidden is defined in b.proto, which is not imported",
    ),
    (
        'package a; import "a.proto"; message Other {}',
        "line 1, column 38: a.Other is defined in an imported file too",
    ),
]
REFERENCES = {
    "a.proto": 'package a; import "b.proto"; message Other {}',
    "b.proto": "package b; message Hidden {}",
}


@each_row(("text", "problem"), SYNTAX)
def test_what_is_no_protobuf_at_all(text: str, problem: str) -> None:
    for is_new in (True, False):
        with pytest.raises(InvalidSchema) as error:
            parse(text, {}, is_new=is_new)
        assert str(error.value) == problem


@each_row(("text", "problem"), RULES)
def test_what_breaks_a_rule(text: str, problem: str) -> None:
    with pytest.raises(InvalidSchema) as error:
        parse(text, REFERENCES)
    assert str(error.value) == problem


@each_row(("text", "problem"), RULES)
def test_rules_are_not_asked_of_what_was_registered_before(text: str, problem: str) -> None:
    schema = parse(text, REFERENCES, is_new=False)
    assert schema.canonical() == parse(schema.canonical(), REFERENCES, is_new=False).canonical()
    assert schema.normalized().canonical()
    assert schema.incompatibilities_with(schema) == []


def test_a_reference_that_is_no_protobuf() -> None:
    with pytest.raises(InvalidSchema, match="line 1, column 1"):
        parse('import "a.proto"; message M {}', {"a.proto": "nonsense"})


@pytest.mark.parametrize("raw", [b"", b"\x00", b"garbage", b"\x0a\x05ab", b"\x98\x06\x01"])
def test_base64_of_something_else(raw: bytes) -> None:
    text = base64.b64encode(raw).decode() or "="
    with pytest.raises(InvalidSchema):
        parse(text, {})


BAD_DESCRIPTORS = [
    ({"package": "a b"}, "the descriptor of 'x', as text: line 2, column 11: expected ';', got 'b'"),
    ({"message_type": [{"name": "A {} message B"}]}, "the descriptor of 'x' has names that are no names"),
    ({"dependency": ['a"; import "b']}, "the descriptor of 'x' has names that are no names"),
    ({"message_type": [{"name": ""}]}, "expected the name of a message, got '{'"),
    ({"enum_type": [{"name": "E"}]}, "line 3, column 6: enum E has no constants"),
]


@pytest.mark.parametrize(("content", "problem"), BAD_DESCRIPTORS)
def test_a_descriptor_that_no_text_could_say(content: dict[str, Any], problem: str) -> None:
    file = descriptor_pb2.FileDescriptorProto(name="x", syntax="proto3", **content)
    with pytest.raises(InvalidSchema, match=re.escape(problem)):
        parse(base64.b64encode(file.SerializeToString()).decode(), {})


def test_a_descriptor_that_is_nested_too_deeply() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="x", syntax="proto3")
    message = file.message_type.add(name="M")
    for _ in range(80):
        message = message.nested_type.add(name="M")
    with pytest.raises(InvalidSchema, match="messages are nested more than 64 deep"):
        parse(base64.b64encode(file.SerializeToString()).decode(), {})


def test_files_that_import_each_other() -> None:
    references = {
        "a.proto": 'import "b.proto"; message A {}',
        "b.proto": 'import "a.proto"; message B {}',
    }
    schema = parse('import "a.proto"; message M { optional A a = 1; }', references)
    with pytest.raises(
        InvalidSchema, match=r"files import each other: default -> a.proto -> b.proto -> a.proto"
    ):
        schema.descriptors()


WRONG_OPTIONS = [
    (
        "option java_multiple_files = 5;",
        "line 2, column 8: the value of option java_multiple_files is not valid",
    ),
    ("option optimize_for = FAST;", "line 2, column 8: the value of option optimize_for is not valid"),
    (
        "message M { int32 a = 1 [deprecated = x]; }",
        "line 2, column 26: the value of option deprecated is not valid",
    ),
    (
        "message M { option (confluent.message_meta).doc = 5; }",
        "line 2, column 20: the value of option (confluent.message_meta).doc is not valid",
    ),
]


@pytest.mark.parametrize(("text", "problem"), WRONG_OPTIONS)
def test_an_option_whose_value_does_not_fit(text: str, problem: str) -> None:
    text = f'syntax = "proto3";\n{text}'
    with pytest.raises(InvalidSchema, match=re.escape(problem)):
        parse(text, {})
    before = parse(text, {}, is_new=False)
    (file,) = before.descriptors()
    assert not file.options.ListFields()
    assert before.canonical()
