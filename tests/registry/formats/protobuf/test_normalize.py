"""What `normalize=true` makes of a schema."""

from __future__ import annotations

import pytest

from penstock.registry.formats.protobuf import parse
from penstock.registry.formats.protobuf.normalize_options import plain_number
from tests.support.rows import each_row

BEFORE = """
syntax = "proto3";
package acme.v1;
import "google/protobuf/timestamp.proto"; import "confluent/meta.proto"; import "confluent/meta.proto";
import "google/protobuf/descriptor.proto";
option java_package = "x"; option go_package = "y";
option (confluent.file_meta).tags = "PII"; option (confluent.file_meta).doc = "text";
option (.confluent.file_meta).tags = ["PCI", "PII"];
message Order {
  reserved "z", "a"; reserved 90, 70 to 80, 60 to 60;
  Line last = 9 [json_name = "L", deprecated = true, (unit).name = "m", (acme.v1.unit).size = 1.50];
  map<string, Line> lines = 3;
  oneof b { string y = 8; string x = 7; }
  oneof a { int32 w = 6; }
  google.protobuf.Timestamp at = 1;
  v1.Order.Line.Kind kind = 2;
  message Line { enum Kind { Z = 0; B = 2; A = 1; } Kind kind = 1; Order order = 2; }
}
message Unit { string name = 1; double size = 2; }
extend google.protobuf.FieldOptions { Unit unit = 50001; }
extend google.protobuf.MessageOptions { int32 one = 50002; }
extend .google.protobuf.FieldOptions { int32 two = 50000; }
service S { rpc B (Order) returns (Order.Line); rpc A (Unit) returns (Unit); }
"""

AFTER = """\
syntax = "proto3";
package acme.v1;

import "confluent/meta.proto";
import "google/protobuf/descriptor.proto";
import "google/protobuf/timestamp.proto";

option (confluent.file_meta) = {
  doc: "text",
  tags: [
    "PII",
    "PCI"
  ]
};
option go_package = "y";
option java_package = "x";

message Order {
  reserved 60;
  reserved 70 to 80;
  reserved 90;
  reserved "a";
  reserved "z";

  .google.protobuf.Timestamp at = 1;
  .acme.v1.Order.Line.Kind kind = 2;
  map<string, .acme.v1.Order.Line> lines = 3;
  .acme.v1.Order.Line last = 9 [
    (acme.v1.unit) = {
      name: "m",
      size: 1.5
    },
    deprecated = true,
    json_name = "L"
  ];

  oneof a {
    int32 w = 6;
  }
  oneof b {
    string x = 7;
    string y = 8;
  }

  message Line {
    .acme.v1.Order.Line.Kind kind = 1;
    .acme.v1.Order order = 2;
__
    enum Kind {
      Z = 0;
      A = 1;
      B = 2;
    }
  }
}
message Unit {
  string name = 1;
  double size = 2;
}

extend .google.protobuf.FieldOptions {
  int32 two = 50000;
  .acme.v1.Unit unit = 50001;
}
extend .google.protobuf.MessageOptions {
  int32 one = 50002;
}

service S {
  rpc B (.acme.v1.Order) returns (.acme.v1.Order.Line);
  rpc A (.acme.v1.Unit) returns (.acme.v1.Unit);
}
""".replace("__", "  ")


def test_the_whole() -> None:
    schema = parse(BEFORE, {})
    assert schema.normalized().canonical() == AFTER
    assert schema.normalized().normalized().canonical() == AFTER
    assert parse(AFTER, {}).normalized().canonical() == AFTER


SAME = [
    ('syntax = "proto2"; message A {}', "message A {}"),
    (
        "message A { optional int32 b = 2; optional int32 a = 1; }",
        "message A { optional int32 a = 1; optional int32 b = 2; }",
    ),
    ("message A { optional A a = 1; }", "message A { optional .A a = 1; }"),
    ("message A { extensions 7, 5; }", "message A { extensions 5; extensions 7 to 7; }"),
    ("enum E { B = 1; A = 0; }", "enum E { A = 0; B = 1; }"),
    (
        "enum E { option allow_alias = true; B = 1; A = 1; }",
        "enum E { A = 1; option allow_alias = true; B = 1; }",
    ),
    (
        "message A { optional int32 a = 1 [default = 0x10]; }",
        "message A { optional int32 a = 1 [default = 16]; }",
    ),
    (
        "message A { optional double a = 1 [default = 1e3]; }",
        "message A { optional double a = 1 [default = 1000.0]; }",
    ),
    (
        "message A { repeated .A.BEntry b = 1; message BEntry "
        "{ option map_entry = true; optional string key = 1; optional A value = 2; } }",
        "message A { map<string, A> b = 1; }",
    ),
    (
        "message A { optional group B = 2 {} optional group C = 1 {} }",
        "message A { optional group C = 1 {} optional group B = 2 {} }",
    ),
    (
        "message A { option (x) = 1; option deprecated = true; }",
        "message A { option deprecated = true; option (x) = 1; }",
    ),
    (
        "message A { option (confluent.message_meta) = {tags: ['a'] params: []}; }",
        "message A { option (confluent.message_meta).tags = 'a'; }",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_is_the_same(one: str, other: str) -> None:
    first, second = parse(one, {}, is_new=False), parse(other, {}, is_new=False)
    assert first.canonical() != second.canonical()
    assert first.normalized().canonical() == second.normalized().canonical()


DIFFERENT = [
    ("message A {} message B {}", "message B {} message A {}"),
    ("message A { optional int32 a = 1; }", "message A { optional int32 b = 1; }"),
    ("message A { optional int32 a = 1; }", "message A { repeated int32 a = 1; }"),
    ('syntax = "proto3"; message A {}', 'syntax = "proto2"; message A {}'),
    ("message A { reserved 1; }", "message A { reserved 2; }"),
    (
        "service S { rpc A (M) returns (M); rpc B (M) returns (M); }",
        "service S { rpc B (M) returns (M); rpc A (M) returns (M); }",
    ),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_is_not_the_same(one: str, other: str) -> None:
    first, second = parse(one, {}, is_new=False), parse(other, {}, is_new=False)
    assert first.normalized().canonical() != second.normalized().canonical()


def test_assignments_to_one_option() -> None:
    text = """
        import "google/protobuf/descriptor.proto";
        message Container {
          optional string a = 1
            [(box).range.min = 1.0, (box).range.max = 9, (box).tags.name = "a", (box).tags.name = "b"];
          optional string b = 2 [(box).range = {min: 1}, (box).range.min = 2];
        }
        extend google.protobuf.FieldOptions { optional Box box = 50000; }
        message Box { optional Range range = 1; repeated Tag tags = 2; }
        message Range { optional double min = 1; optional double max = 2; }
        message Tag { optional string name = 1; }
    """
    normal = parse(text, {}).normalized()
    assert (
        "  optional string a = 1 [(box) = {\n    range: {\n      max: 9,\n      min: 1\n    },\n    tags: [\n"
        '      {\n        name: "a"\n      },\n      {\n        name: "b"\n      }\n    ]\n  }];\n'
    ) in normal.canonical()
    assert (
        "  optional string b = 2 [(box) = {\n    range: {\n      min: 2\n    }\n  }];\n" in normal.canonical()
    )


@each_row(
    ("number", "plain"),
    [
        ("12", "12"),
        ("-12", "-12"),
        ("012", "10"),
        ("0x1F", "31"),
        ("-0x1f", "-31"),
        ("1.", "1"),
        ("1.50", "1.5"),
        (".5", "0.5"),
        ("1e2", "100"),
        ("12.5E-1", "1.25"),
        ("1.5f", "1.5"),
        ("0.12345", "0.123"),
        ("0.0005", "0"),
        ("-0.0001", "0"),
        ("1e999", "1e999"),
        ("-inf", "-inf"),
        ("18446744073709551615", "18446744073709551615"),
    ],
)
def test_numbers(number: str, plain: str) -> None:
    assert plain_number(number) == plain
