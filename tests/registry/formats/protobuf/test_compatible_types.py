"""Types of fields: those with one encoding on the wire may stand for each other."""

from __future__ import annotations

from tests.registry.formats.protobuf.cases import Case, check, fields_case, file_case, proto2_case
from tests.support.rows import each_row

ENCODINGS = {
    "varint": ("int32", "int64", "uint32", "uint64", "bool", "E"),
    "zigzag": ("sint32", "sint64"),
    "text": ("string", "bytes"),
    "four bytes": ("fixed32", "sfixed32"),
    "eight bytes": ("fixed64", "sfixed64"),
    "float": ("float",),
    "double": ("double",),
}
ENCODING_OF = {each: encoding for encoding, types in ENCODINGS.items() for each in types}
ENUM = "enum E { ZERO = 0; ONE = 1; }"
FORMS = {"": "{} a = 1;", "list of ": "repeated {} a = 1;", "map to ": "map<string, {}> a = 1;"}


def _scalar_cases() -> list[Case]:
    """Every pair of types, alone, in lists and as values of maps."""
    cases = []
    for form, text in FORMS.items():
        for before in ENCODING_OF:
            for after in ENCODING_OF:
                found = (
                    () if ENCODING_OF[before] == ENCODING_OF[after] else ("FIELD_SCALAR_KIND_CHANGED #/1",)
                )
                name = f"{form}{before} becomes {form}{after}"
                cases.append(fields_case(name, ENUM + text.format(before), ENUM + text.format(after), *found))
    return cases


KEYS = [each for each in ENCODING_OF if each not in ("float", "double", "bytes", "E")]


def _key_cases() -> list[Case]:
    cases = []
    for before in KEYS:
        for after in KEYS:
            found = () if ENCODING_OF[before] == ENCODING_OF[after] else ("FIELD_SCALAR_KIND_CHANGED #/1",)
            cases.append(
                fields_case(
                    f"keys {before} become {after}",
                    f"map<{before}, string> a = 1;",
                    f"map<{after}, string> a = 1;",
                    *found,
                )
            )
    return cases


KINDS = {
    "number": "int32 a = 1;",
    "text": "string a = 1;",
    "message": "M a = 1;",
    "map": "map<string, string> a = 1;",
}
KIND_OF = {"number": "scalar", "text": "scalar", "message": "message", "map": "map"}


def _kind_cases() -> list[Case]:
    return [
        fields_case(f"a {before} becomes a {after}", KINDS[before], KINDS[after], "FIELD_KIND_CHANGED #/1")
        for before in KINDS
        for after in KINDS
        if KIND_OF[before] != KIND_OF[after]
    ]


INNER = "message {0} {{ string x = 1; }}"
NAMED = [
    file_case(
        "a message of another name",
        "message M { A a = 1; } message A {} message B {}",
        "message M { B a = 1; } message A {} message B {}",
        "FIELD_NAMED_TYPE_CHANGED #/M/1",
    ),
    file_case(
        "a message of another name in a list",
        "message M { repeated A a = 1; } message A {} message B {}",
        "message M { repeated B a = 1; } message A {} message B {}",
        "FIELD_NAMED_TYPE_CHANGED #/M/1",
    ),
    file_case(
        "a message of another name in a map",
        "message M { map<int32, A> a = 1; } message A {} message B {}",
        "message M { map<int32, B> a = 1; } message A {} message B {}",
        "FIELD_NAMED_TYPE_CHANGED #/M/1",
    ),
    file_case(
        "a message becomes a nested one of the same name",
        "message M { A a = 1; message A {} } message A {}",
        "message M { .A a = 1; message A {} } message A {}",
        "FIELD_NAMED_TYPE_CHANGED #/M/1",
    ),
    file_case(
        "a name is written in full",
        "message M { A a = 1; message A {} }",
        "message M { .M.A a = 1; message A {} }",
    ),
    file_case(
        "a name in a map is written in full",
        "message M { map<string, A> a = 1; message A {} }",
        "message M { map<string, .M.A> a = 1; message A {} }",
    ),
    file_case(
        "an enum of another name",
        "enum A { X = 0; } message M { A a = 1; }",
        "enum B { X = 0; } message M { B a = 1; }",
        "ENUM_REMOVED #/A",
        "ENUM_ADDED #/B",
    ),
    file_case(
        "an enum becomes a message",
        "message M { A a = 1; } enum A { X = 0; }",
        "message M { A a = 1; } message A {}",
        "FIELD_KIND_CHANGED #/M/1",
        "ENUM_REMOVED #/A",
        "MESSAGE_ADDED #/A",
    ),
    file_case(
        "a message becomes an enum",
        "message M { A a = 1; } message A {}",
        "message M { A a = 1; } enum A { X = 0; }",
        "FIELD_KIND_CHANGED #/M/1",
        "MESSAGE_REMOVED #/A",
        "ENUM_ADDED #/A",
    ),
    file_case("a message within itself", "message M { M m = 1; }", "message M { M m = 1; }"),
    file_case(
        "messages within each other",
        "message M { A a = 1; } message A { M m = 1; }",
        "message M { A a = 1; } message A { M m = 1; string s = 2; }",
        "FIELD_ADDED #/A/2",
    ),
    file_case(
        "a message changes below",
        "message M { A a = 1; message A { string s = 1; } }",
        "message M { A a = 1; message A { int32 s = 1; } }",
        "FIELD_SCALAR_KIND_CHANGED #/M/A/1",
    ),
    file_case(
        "a message three levels below changes",
        "message M { message A { message B { string s = 1; } } }",
        "message M { message A { message B { bytes s = 1; float t = 2; } } }",
        "FIELD_ADDED #/M/A/B/2",
    ),
    fields_case(
        "both types of a map change",
        "map<string, int32> a = 1;",
        "map<int32, string> a = 1;",
        "FIELD_SCALAR_KIND_CHANGED #/1",
        "FIELD_SCALAR_KIND_CHANGED #/1",
    ),
    fields_case(
        "the values of a map become messages",
        "map<string, int32> a = 1;",
        "map<string, M> a = 1;",
        "FIELD_KIND_CHANGED #/1",
    ),
]

ENTRY = "repeated AEntry a = 1; message AEntry { option map_entry = true; string key = 1; int32 value = 2; }"
ENTRIES = [
    fields_case("a map is written as its entries", "map<string, int32> a = 1;", ENTRY),
    fields_case("entries are written as a map", ENTRY, "map<string, int32> a = 1;"),
    fields_case("entries stay", ENTRY, ENTRY),
    fields_case(
        "entries become a map to something else",
        ENTRY,
        "map<string, string> a = 1;",
        "FIELD_SCALAR_KIND_CHANGED #/1",
    ),
    fields_case("entries become a scalar", ENTRY, "string a = 1;", "FIELD_KIND_CHANGED #/1"),
]

GROUPS = [
    proto2_case(
        "a group stays",
        "optional group G = 1 { optional int32 x = 1; }",
        "optional group G = 1 { optional int32 x = 1; }",
    ),
    proto2_case("a group is added", "", "optional group G = 1 {}", "FIELD_ADDED #/1"),
    proto2_case("a group is removed", "optional group G = 1 {}", "", "FIELD_REMOVED #/1"),
    proto2_case("a required group is added", "", "required group G = 1 {}", "REQUIRED_FIELD_ADDED #/1"),
    proto2_case(
        "a group becomes a message",
        "optional group G = 1 {}",
        "optional M g = 1;",
        "FIELD_NAME_CHANGED #/1",
        "FIELD_KIND_CHANGED #/1",
    ),
    proto2_case(
        "a message becomes a group", "optional M G = 1;", "optional group G = 1 {}", "FIELD_KIND_CHANGED #/1"
    ),
    proto2_case(
        "a field of a group changes",
        "optional group G = 1 { optional int32 x = 1; }",
        "optional group G = 1 { optional string x = 1; }",
        "FIELD_SCALAR_KIND_CHANGED #/1/1",
    ),
]


@each_row("case", [*_scalar_cases(), *_key_cases()], str)
def test_scalars(case: Case) -> None:
    check(case)


@each_row("case", [*_kind_cases(), *NAMED, *ENTRIES, *GROUPS], str)
def test_kinds_and_names(case: Case) -> None:
    check(case)
