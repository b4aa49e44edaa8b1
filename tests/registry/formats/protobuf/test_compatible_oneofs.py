"""Oneofs: fields that could be set together must not come to exclude each other."""

from __future__ import annotations

from tests.registry.formats.protobuf.cases import Case, check, fields_case
from tests.support.rows import each_row

AB = "string a = 1; string b = 2;"
ONEOF_AB = "oneof o { string a = 1; string b = 2; }"

CASES = [
    fields_case("a oneof stays", ONEOF_AB, ONEOF_AB),
    fields_case("the order in a oneof changes", ONEOF_AB, "oneof o { string b = 2; string a = 1; }"),
    fields_case(
        "a oneof is renamed",
        ONEOF_AB,
        "oneof p { string a = 1; string b = 2; }",
        "ONEOF_REMOVED #/o",
        "ONEOF_ADDED #/p",
    ),
    fields_case(
        "a oneof is added", "", "oneof o { string a = 1; }", "ONEOF_ADDED #/o", "ONEOF_FIELD_ADDED #/o/1"
    ),
    fields_case(
        "a oneof of two is added",
        "",
        ONEOF_AB,
        "ONEOF_ADDED #/o",
        "ONEOF_FIELD_ADDED #/o/1",
        "ONEOF_FIELD_ADDED #/o/2",
    ),
    fields_case("a oneof is removed with its field", "oneof o { string a = 1; }", "", "ONEOF_REMOVED #/o"),
    fields_case("a oneof is removed with its fields", ONEOF_AB, "", "ONEOF_REMOVED #/o"),
    fields_case(
        "a field is added to a oneof",
        ONEOF_AB,
        "oneof o { string a = 1; string b = 2; string c = 3; }",
        "ONEOF_FIELD_ADDED #/o/3",
    ),
    fields_case(
        "a field is removed from a oneof", ONEOF_AB, "oneof o { string a = 1; }", "ONEOF_FIELD_REMOVED #/o/2"
    ),
    fields_case(
        "a field of a oneof gets another number",
        ONEOF_AB,
        "oneof o { string a = 1; string b = 3; }",
        "ONEOF_FIELD_REMOVED #/o/2",
        "ONEOF_FIELD_ADDED #/o/3",
    ),
    fields_case(
        "a field of a oneof is renamed",
        ONEOF_AB,
        "oneof o { string a = 1; string c = 2; }",
        "FIELD_NAME_CHANGED #/o/2",
    ),
    fields_case(
        "a field of a oneof changes its type",
        ONEOF_AB,
        "oneof o { string a = 1; int32 b = 2; }",
        "FIELD_SCALAR_KIND_CHANGED #/o/2",
    ),
    fields_case(
        "a field of a oneof changes its type within its encoding",
        ONEOF_AB,
        "oneof o { string a = 1; bytes b = 2; }",
    ),
    fields_case(
        "a field of a oneof changes its kind",
        ONEOF_AB,
        "oneof o { string a = 1; M b = 2; }",
        "FIELD_KIND_CHANGED #/o/2",
    ),
    fields_case(
        "one field moves into a new oneof", AB, "oneof o { string a = 1; } string b = 2;", "ONEOF_ADDED #/o"
    ),
    fields_case(
        "each of two fields moves into its own oneof",
        AB,
        "oneof o { string a = 1; } oneof p { string b = 2; }",
        "ONEOF_ADDED #/o",
        "ONEOF_ADDED #/p",
    ),
    fields_case(
        "one field moves into a oneof with a new one",
        "string a = 1;",
        ONEOF_AB,
        "ONEOF_ADDED #/o",
        "ONEOF_FIELD_ADDED #/o/2",
    ),
    fields_case(
        "two fields move into a new oneof",
        AB,
        ONEOF_AB,
        "ONEOF_ADDED #/o",
        "MULTIPLE_FIELDS_MOVED_TO_ONEOF #/o",
    ),
    fields_case(
        "three fields move into a new oneof",
        AB + "string c = 3;",
        "oneof o { string a = 1; string b = 2; string c = 3; }",
        "ONEOF_ADDED #/o",
        "MULTIPLE_FIELDS_MOVED_TO_ONEOF #/o",
    ),
    fields_case(
        "a field moves into an existing oneof",
        "oneof o { string a = 1; } string b = 2;",
        ONEOF_AB,
        "FIELD_MOVED_TO_EXISTING_ONEOF #/o",
    ),
    fields_case(
        "two fields move into an existing oneof",
        "oneof o { string a = 1; } string b = 2; string c = 3;",
        "oneof o { string a = 1; string b = 2; string c = 3; }",
        "MULTIPLE_FIELDS_MOVED_TO_ONEOF #/o",
    ),
    fields_case(
        "a field moves into a renamed oneof",
        "oneof o { string a = 1; } string b = 2;",
        "oneof p { string a = 1; string b = 2; }",
        "FIELD_MOVED_TO_EXISTING_ONEOF #/p",
        "ONEOF_REMOVED #/o",
        "ONEOF_ADDED #/p",
    ),
    fields_case(
        "a field moves from one oneof to another",
        "oneof o { string a = 1; string b = 2; } oneof p { string c = 3; }",
        "oneof o { string a = 1; } oneof p { string c = 3; string b = 2; }",
        "FIELD_MOVED_TO_EXISTING_ONEOF #/p",
    ),
    fields_case(
        "a field moves from a oneof to a new one of its own",
        ONEOF_AB,
        "oneof o { string a = 1; } oneof p { string b = 2; }",
        "ONEOF_ADDED #/p",
    ),
    fields_case(
        "two oneofs become one",
        "oneof o { string a = 1; } oneof p { string b = 2; }",
        "oneof q { string a = 1; string b = 2; }",
        "FIELD_MOVED_TO_EXISTING_ONEOF #/q",
        "ONEOF_REMOVED #/o",
        "ONEOF_REMOVED #/p",
        "ONEOF_ADDED #/q",
    ),
    fields_case(
        "one oneof becomes two",
        ONEOF_AB,
        "oneof p { string a = 1; } oneof q { string b = 2; }",
        "ONEOF_REMOVED #/o",
        "ONEOF_ADDED #/p",
        "ONEOF_ADDED #/q",
    ),
    fields_case(
        "a oneof is renamed and loses a field",
        ONEOF_AB,
        "oneof p { string a = 1; }",
        "ONEOF_REMOVED #/o",
        "ONEOF_ADDED #/p",
        "ONEOF_FIELD_REMOVED #/o/2",
    ),
    fields_case(
        "a oneof is renamed and a type changes",
        ONEOF_AB,
        "oneof p { string a = 1; int32 b = 2; }",
        "ONEOF_REMOVED #/o",
        "ONEOF_ADDED #/p",
        "FIELD_SCALAR_KIND_CHANGED #/p/2",
    ),
    fields_case(
        "a field moves out of a oneof",
        ONEOF_AB,
        "oneof o { string a = 1; } string b = 2;",
        "ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/2",
    ),
    fields_case(
        "all fields move out of a oneof",
        ONEOF_AB,
        AB,
        "ONEOF_REMOVED #/o",
        "ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/1",
        "ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/2",
    ),
    fields_case(
        "a oneof is gone, one field stays",
        ONEOF_AB,
        "string a = 1;",
        "ONEOF_REMOVED #/o",
        "ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/1",
        "ONEOF_FIELD_REMOVED #/o/2",
    ),
    fields_case(
        "a field moves out of a oneof and changes its type",
        ONEOF_AB,
        "oneof o { string a = 1; } int32 b = 2;",
        "ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/2",
        "FIELD_SCALAR_KIND_CHANGED #/2",
    ),
    fields_case(
        "a field moves out of a oneof and becomes a list",
        ONEOF_AB,
        "oneof o { string a = 1; } repeated string b = 2;",
        "ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/2",
    ),
    fields_case(
        "a field moves into a new oneof and changes its type",
        "string a = 1;",
        "oneof o { int32 a = 1; }",
        "ONEOF_ADDED #/o",
        "FIELD_SCALAR_KIND_CHANGED #/o/1",
    ),
    fields_case(
        "a field moves into a new oneof and is renamed",
        "string a = 1;",
        "oneof o { string b = 1; }",
        "ONEOF_ADDED #/o",
        "FIELD_NAME_CHANGED #/o/1",
    ),
    fields_case(
        "an optional field moves into a oneof",
        "optional string a = 1;",
        "oneof o { string a = 1; }",
        "ONEOF_ADDED #/o",
    ),
    fields_case(
        "two oneofs swap their names",
        "oneof o { string a = 1; } oneof p { string b = 2; }",
        "oneof p { string a = 1; } oneof o { string b = 2; }",
    ),
    fields_case(
        "a oneof is added beside fields",
        "string a = 1;",
        "string a = 1; oneof o { string b = 2; }",
        "ONEOF_ADDED #/o",
        "ONEOF_FIELD_ADDED #/o/2",
    ),
]


@each_row("case", CASES, str)
def test_oneofs(case: Case) -> None:
    check(case)
