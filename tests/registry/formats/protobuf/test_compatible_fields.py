"""Fields that come, go, change their names, numbers and labels."""

from __future__ import annotations

from tests.registry.formats.protobuf.cases import Case, check, fields_case, proto2_case
from tests.support.rows import each_row

ADDED_AND_REMOVED = [
    fields_case("nothing changes", "string a = 1;", "string a = 1;"),
    fields_case("both are empty", "", ""),
    fields_case("a field is added", "string a = 1;", "string a = 1; string b = 2;", "FIELD_ADDED #/2"),
    fields_case("a field is added to none", "", "string a = 1;", "FIELD_ADDED #/1"),
    fields_case("a field is removed", "string a = 1; string b = 2;", "string a = 1;", "FIELD_REMOVED #/2"),
    fields_case("the only field is removed", "string a = 1;", "", "FIELD_REMOVED #/1"),
    fields_case(
        "the only field is replaced", "string a = 1;", "string a = 2;", "FIELD_REMOVED #/1", "FIELD_ADDED #/2"
    ),
    fields_case(
        "three are added",
        "",
        "int32 a = 1; int32 b = 2; int32 c = 3;",
        *[f"FIELD_ADDED #/{n}" for n in (1, 2, 3)],
    ),
    fields_case(
        "three are removed",
        "int32 a = 1; int32 b = 2; int32 c = 3;",
        "",
        *[f"FIELD_REMOVED #/{n}" for n in (1, 2, 3)],
    ),
    fields_case(
        "a removed field is reserved", "string a = 1;", 'reserved 1; reserved "a";', "FIELD_REMOVED #/1"
    ),
    fields_case("a repeated field is added", "", "repeated string a = 1;", "FIELD_ADDED #/1"),
    fields_case("a repeated field is removed", "repeated string a = 1;", "", "FIELD_REMOVED #/1"),
    fields_case("an optional field is added", "", "optional string a = 1;", "FIELD_ADDED #/1"),
    fields_case("a map is added", "", "map<string, int32> a = 1;", "FIELD_ADDED #/1"),
    fields_case("a map is removed", "map<string, int32> a = 1;", "", "FIELD_REMOVED #/1"),
    fields_case("the order changes", "string a = 1; string b = 2;", "string b = 2; string a = 1;"),
    fields_case("the highest number is added", "", "string a = 536870911;", "FIELD_ADDED #/536870911"),
    proto2_case("an optional field is added in proto2", "", "optional string a = 1;", "FIELD_ADDED #/1"),
    proto2_case("an optional field is removed in proto2", "optional string a = 1;", "", "FIELD_REMOVED #/1"),
    proto2_case("a required field is added", "", "required string a = 1;", "REQUIRED_FIELD_ADDED #/1"),
    proto2_case("a required field is removed", "required string a = 1;", "", "REQUIRED_FIELD_REMOVED #/1"),
    proto2_case("a required message is added", "", "required M a = 1;", "REQUIRED_FIELD_ADDED #/1"),
    proto2_case("a required number is removed", "required int32 a = 1;", "", "REQUIRED_FIELD_REMOVED #/1"),
    proto2_case(
        "a required field gets another number",
        "required string a = 1;",
        "required string a = 2;",
        "REQUIRED_FIELD_REMOVED #/1",
        "REQUIRED_FIELD_ADDED #/2",
    ),
    proto2_case("a default is added", "optional int32 a = 1;", "optional int32 a = 1 [default = 5];"),
    proto2_case(
        "a default changes", "optional int32 a = 1 [default = 4];", "optional int32 a = 1 [default = 5];"
    ),
    proto2_case("a default is removed", "optional int32 a = 1 [default = 5];", "optional int32 a = 1;"),
    proto2_case("extension numbers are declared", "", "extensions 100 to 200;"),
    fields_case("a field becomes deprecated", "string a = 1;", "string a = 1 [deprecated = true];"),
    fields_case("a JSON name is added", "string a = 1;", 'string a = 1 [json_name = "x"];'),
    fields_case(
        "a list is packed no more", "repeated int32 a = 1;", "repeated int32 a = 1 [packed = false];"
    ),
]

NAMES = [
    fields_case("a string is renamed", "string a = 1;", "string b = 1;", "FIELD_NAME_CHANGED #/1"),
    fields_case("a number is renamed", "int32 a = 1;", "int32 b = 1;", "FIELD_NAME_CHANGED #/1"),
    fields_case("a message is renamed as a field", "M a = 1;", "M b = 1;", "FIELD_NAME_CHANGED #/1"),
    fields_case(
        "a map is renamed", "map<string, M> a = 1;", "map<string, M> b = 1;", "FIELD_NAME_CHANGED #/1"
    ),
    fields_case("a list is renamed", "repeated M a = 1;", "repeated M b = 1;", "FIELD_NAME_CHANGED #/1"),
    fields_case(
        "two fields swap their names",
        "string a = 1; string b = 2;",
        "string b = 1; string a = 2;",
        "FIELD_NAME_CHANGED #/1",
        "FIELD_NAME_CHANGED #/2",
    ),
    fields_case(
        "two fields of different kinds swap their names",
        "string a = 1; int32 b = 2;",
        "string b = 1; int32 a = 2;",
        "FIELD_NAME_CHANGED #/1",
        "FIELD_NAME_CHANGED #/2",
    ),
    fields_case(
        "two fields of different kinds swap their numbers",
        "string a = 1; int32 b = 2;",
        "int32 b = 1; string a = 2;",
        "FIELD_NAME_CHANGED #/1",
        "FIELD_SCALAR_KIND_CHANGED #/1",
        "FIELD_NAME_CHANGED #/2",
        "FIELD_SCALAR_KIND_CHANGED #/2",
    ),
    fields_case(
        "a field is renamed and changes its type",
        "string a = 1;",
        "int32 b = 1;",
        "FIELD_NAME_CHANGED #/1",
        "FIELD_SCALAR_KIND_CHANGED #/1",
    ),
]

NUMERIC = [
    "int32",
    "int64",
    "uint32",
    "uint64",
    "sint32",
    "sint64",
    "fixed32",
    "fixed64",
    "sfixed32",
    "sfixed64",
    "bool",
    "float",
    "double",
]
TEXTUAL = ("string", "bytes")
LABEL_CHANGES = [
    ("optional", "repeated"),
    ("repeated", "optional"),
    ("optional", "required"),
    ("required", "optional"),
    ("required", "repeated"),
    ("repeated", "required"),
]


def _label_cases() -> list[Case]:
    cases = []
    for before, after in LABEL_CHANGES:
        for each in (*NUMERIC, *TEXTUAL):
            kind = "STRING_OR_BYTES" if each in TEXTUAL else "NUMERIC"
            name = f"{before} {each} becomes {after}"
            found = f"FIELD_{kind}_LABEL_CHANGED #/1"
            cases.append(proto2_case(name, f"{before} {each} a = 1;", f"{after} {each} a = 1;", found))
        cases.append(
            proto2_case(f"{before} message becomes {after}", f"{before} M a = 1;", f"{after} M a = 1;")
        )
    return cases


PROTO3_LABELS = [
    fields_case("a number gets presence", "int32 a = 1;", "optional int32 a = 1;"),
    fields_case("a number loses presence", "optional int32 a = 1;", "int32 a = 1;"),
    fields_case("a number becomes a list in proto3", "int32 a = 1;", "repeated int32 a = 1;"),
    fields_case("a string becomes a list in proto3", "string a = 1;", "repeated string a = 1;"),
    fields_case("a message becomes a list in proto3", "M a = 1;", "repeated M a = 1;"),
    fields_case(
        "an optional number becomes a list in proto3",
        "optional int32 a = 1;",
        "repeated int32 a = 1;",
        "FIELD_NUMERIC_LABEL_CHANGED #/1",
    ),
    fields_case(
        "an optional string becomes a list in proto3",
        "optional string a = 1;",
        "repeated string a = 1;",
        "FIELD_STRING_OR_BYTES_LABEL_CHANGED #/1",
    ),
    proto2_case(
        "an optional enum becomes a list",
        "enum E { X = 1; } optional E a = 1;",
        "enum E { X = 1; } repeated E a = 1;",
        "FIELD_NUMERIC_LABEL_CHANGED #/1",
    ),
]


@each_row("case", [*ADDED_AND_REMOVED, *NAMES, *_label_cases(), *PROTO3_LABELS], str)
def test_fields(case: Case) -> None:
    check(case)
