"""Packages, messages, enums, services, and what comes by import."""

from __future__ import annotations

from tests.registry.formats.protobuf.cases import Case, check, file_case, proto2, proto3
from tests.support.rows import each_row

MESSAGES = [
    file_case("a package is added", "message M {}", "package p; message M {}", "PACKAGE_CHANGED #/"),
    file_case("a package is removed", "package p; message M {}", "message M {}", "PACKAGE_CHANGED #/"),
    file_case(
        "a package changes", "package p; message M {}", "package q; message M {}", "PACKAGE_CHANGED #/"
    ),
    file_case(
        "a package changes and a field with it",
        "package p; message M { string a = 1; }",
        "package q; message M { int32 a = 1; }",
        "PACKAGE_CHANGED #/",
        "FIELD_SCALAR_KIND_CHANGED #/M/1",
    ),
    file_case("a message is added", "message A {}", "message A {} message B {}", "MESSAGE_ADDED #/B"),
    file_case("a message is removed", "message A {} message B {}", "message A {}", "MESSAGE_REMOVED #/B"),
    file_case(
        "a message is renamed", "message A {}", "message B {}", "MESSAGE_REMOVED #/A", "MESSAGE_ADDED #/B"
    ),
    file_case(
        "messages swap places",
        "message A {} message B {}",
        "message B {} message A {}",
        "MESSAGE_MOVED #/A",
        "MESSAGE_MOVED #/B",
    ),
    file_case(
        "a message comes before another",
        "message A {}",
        "message B {} message A {}",
        "MESSAGE_ADDED #/B",
        "MESSAGE_MOVED #/A",
    ),
    file_case(
        "an enum comes before a message", "message A {}", "enum E { X = 0; } message A {}", "ENUM_ADDED #/E"
    ),
    file_case(
        "a nested message is added", "message A {}", "message A { message B {} }", "MESSAGE_ADDED #/A/B"
    ),
    file_case(
        "a nested message is removed", "message A { message B {} }", "message A {}", "MESSAGE_REMOVED #/A/B"
    ),
    file_case(
        "a message is nested",
        "message A {} message B {}",
        "message A { message B {} }",
        "MESSAGE_REMOVED #/B",
        "MESSAGE_ADDED #/A/B",
    ),
    file_case(
        "nested messages swap places",
        "message A { message B {} message C {} }",
        "message A { message C {} message B {} }",
        "MESSAGE_MOVED #/A/B",
        "MESSAGE_MOVED #/A/C",
    ),
    file_case("a service is added", "message A {}", "message A {} service S { rpc R (A) returns (A); }"),
    file_case("a service is removed", "message A {} service S { rpc R (A) returns (A); }", "message A {}"),
    file_case("an option changes", 'option java_package = "a";', 'option java_package = "b";'),
    file_case("a comment is added", "message A {}", "// now with a comment\nmessage A {}"),
    Case("proto2 becomes proto3", proto2("message A {}"), proto3("message A {}")),
    Case("proto3 becomes an edition", proto3("message A {}"), 'edition = "2023"; message A {}'),
]

ENUMS = [
    file_case("an enum is added", "", "enum E { X = 0; }", "ENUM_ADDED #/E"),
    file_case("an enum is removed", "enum E { X = 0; }", "", "ENUM_REMOVED #/E"),
    file_case(
        "an enum is renamed", "enum E { X = 0; }", "enum F { X = 0; }", "ENUM_REMOVED #/E", "ENUM_ADDED #/F"
    ),
    file_case(
        "a constant is added", "enum E { X = 0; }", "enum E { X = 0; Y = 1; }", "ENUM_CONST_ADDED #/E/1"
    ),
    file_case(
        "a constant is removed", "enum E { X = 0; Y = 1; }", "enum E { X = 0; }", "ENUM_CONST_REMOVED #/E/1"
    ),
    file_case("a constant is renamed", "enum E { X = 0; }", "enum E { Y = 0; }", "ENUM_CONST_CHANGED #/E/0"),
    file_case(
        "a constant gets another number",
        "enum E { X = 0; Y = 1; }",
        "enum E { X = 0; Y = 2; }",
        "ENUM_CONST_REMOVED #/E/1",
        "ENUM_CONST_ADDED #/E/2",
    ),
    file_case(
        "the order of constants changes", "enum E { X = 0; Y = 1; Z = 2; }", "enum E { X = 0; Z = 2; Y = 1; }"
    ),
    file_case(
        "a negative constant is added",
        "enum E { X = 0; }",
        "enum E { X = 0; Y = -1; }",
        "ENUM_CONST_ADDED #/E/-1",
    ),
    file_case(
        "a removed constant is reserved",
        "enum E { X = 0; Y = 1; }",
        "enum E { X = 0; reserved 1; }",
        "ENUM_CONST_REMOVED #/E/1",
    ),
    file_case(
        "a nested enum grows",
        "message M { enum E { X = 0; } }",
        "message M { enum E { X = 0; Y = 1; } }",
        "ENUM_CONST_ADDED #/M/E/1",
    ),
    file_case(
        "a nested enum is added", "message M {}", "message M { enum E { X = 0; } }", "ENUM_ADDED #/M/E"
    ),
    file_case(
        "a nested enum is removed", "message M { enum E { X = 0; } }", "message M {}", "ENUM_REMOVED #/M/E"
    ),
]

USES_A = proto3('import "a.proto"; message M { A a = 1; }')
LISTS_A = proto3('import "a.proto"; message M { repeated A a = 1; }')
MAPS_A = proto3('import "a.proto"; message M { map<string, A> a = 1; }')
TAKES_A = proto3("message A { string s = 1; }")
A_GROWS = proto3("message A { string s = 1; int32 n = 2; }")
A_BREAKS = proto3("message A { int32 s = 1; }")


def _with_a(name: str, before: str, after: str, *found: str, text: str = USES_A) -> Case:
    return Case(name, text, text, found, {"a.proto": before}, {"a.proto": after})


IMPORTS = [
    _with_a("an imported message stays", TAKES_A, TAKES_A),
    _with_a("an imported message grows", TAKES_A, A_GROWS, "FIELD_ADDED #/A/2"),
    _with_a("an imported message shrinks", A_GROWS, TAKES_A, "FIELD_REMOVED #/A/2"),
    *[
        _with_a(
            f"an imported message breaks, used in {what}",
            TAKES_A,
            A_BREAKS,
            "FIELD_SCALAR_KIND_CHANGED #/A/1",
            "FIELD_NAMED_TYPE_CHANGED #/M/1",
            text=text,
        )
        for what, text in (("a field", USES_A), ("a list", LISTS_A), ("a map", MAPS_A))
    ],
    _with_a(
        "an imported message breaks below",
        proto3("message A { message B { string s = 1; } B b = 1; }"),
        proto3("message A { message B { int32 s = 1; } B b = 1; }"),
        "FIELD_SCALAR_KIND_CHANGED #/A/B/1",
        "FIELD_SCALAR_KIND_CHANGED #/A/B/1",
        "FIELD_NAMED_TYPE_CHANGED #/A/1",
        "FIELD_NAMED_TYPE_CHANGED #/M/1",
    ),
    _with_a(
        "an imported message that holds itself grows",
        proto3("message A { A a = 1; }"),
        proto3("message A { A a = 1; string s = 2; }"),
        "FIELD_ADDED #/A/2",
    ),
    _with_a(
        "an imported enum grows",
        proto3("enum A { X = 0; }"),
        proto3("enum A { X = 0; Y = 1; }"),
    ),
    _with_a(
        "an imported enum becomes a message", proto3("enum A { X = 0; }"), TAKES_A, "FIELD_KIND_CHANGED #/M/1"
    ),
    Case(
        "a message moves to an import",
        proto3("message M { A a = 1; } message A { string s = 1; }"),
        USES_A,
        ("MESSAGE_REMOVED #/A",),
        {},
        {"a.proto": TAKES_A},
    ),
    Case(
        "a message moves from an import",
        USES_A,
        proto3("message M { A a = 1; } message A { string s = 1; }"),
        ("MESSAGE_ADDED #/A",),
        {"a.proto": TAKES_A},
        {},
    ),
    Case(
        "a message moves from an import and breaks",
        USES_A,
        proto3("message M { A a = 1; } message A { int32 s = 1; }"),
        ("MESSAGE_ADDED #/A", "FIELD_SCALAR_KIND_CHANGED #/A/1", "FIELD_NAMED_TYPE_CHANGED #/M/1"),
        {"a.proto": TAKES_A},
        {},
    ),
    Case(
        "an import gets another package",
        proto3('import "a.proto"; message M { x.A a = 1; }'),
        proto3('import "a.proto"; message M { y.A a = 1; }'),
        (),
        {"a.proto": proto3("package x; message A { string s = 1; }")},
        {"a.proto": proto3("package y; message A { string s = 1; }")},
    ),
    Case(
        "another message of an import",
        proto3('import "a.proto"; message M { A a = 1; }'),
        proto3('import "a.proto"; message M { B a = 1; }'),
        ("FIELD_NAMED_TYPE_CHANGED #/M/1",),
        {"a.proto": proto3("message A {} message B {}")},
        {"a.proto": proto3("message A {} message B {}")},
    ),
    Case(
        "an import of an import breaks",
        USES_A,
        USES_A,
        (
            "FIELD_SCALAR_KIND_CHANGED #/B/1",
            "FIELD_NAMED_TYPE_CHANGED #/A/1",
            "FIELD_NAMED_TYPE_CHANGED #/M/1",
        ),
        {
            "a.proto": proto3('import "b.proto"; message A { B b = 1; }'),
            "b.proto": proto3("message B { string s = 1; }"),
        },
        {
            "a.proto": proto3('import "b.proto"; message A { B b = 1; }'),
            "b.proto": proto3("message B { int32 s = 1; }"),
        },
    ),
    Case(
        "a file is reached through a public import",
        proto3('import "a.proto"; message M { A a = 1; }'),
        proto3('import "all.proto"; message M { A a = 1; }'),
        (),
        {"a.proto": TAKES_A},
        {"all.proto": proto3('import public "a.proto";'), "a.proto": TAKES_A},
    ),
    Case(
        "a timestamp stays",
        proto3('import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp t = 1; }'),
        proto3('import "google/protobuf/timestamp.proto"; message M { .google.protobuf.Timestamp t = 1; }'),
    ),
    Case(
        "a timestamp becomes a duration",
        proto3('import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp t = 1; }'),
        proto3('import "google/protobuf/duration.proto"; message M { google.protobuf.Duration t = 1; }'),
        ("FIELD_NAMED_TYPE_CHANGED #/M/1",),
    ),
    Case(
        "a number becomes a wrapped number",
        proto3("message M { int32 n = 1; }"),
        proto3('import "google/protobuf/wrappers.proto"; message M { google.protobuf.Int32Value n = 1; }'),
        ("FIELD_KIND_CHANGED #/M/1",),
    ),
]


@each_row("case", [*MESSAGES, *ENUMS], str)
def test_definitions(case: Case) -> None:
    check(case)


@each_row("case", IMPORTS, str)
def test_imports(case: Case) -> None:
    check(case)


def test_messages_name_kind_and_path() -> None:
    case = IMPORTS[3]
    writer, reader = case.schemas()
    first, second = reader.incompatibilities_with(writer)
    assert first.kind == "FIELD_SCALAR_KIND_CHANGED"
    assert first.message == (
        "The kind of a SCALAR field at path '#/A/1' in the %s schema does not match its kind in the %s schema"
    )
    assert second.message == (
        "The type of a MESSAGE field at path '#/M/1' in the %s schema does not match its type in the %s schema"
    )
