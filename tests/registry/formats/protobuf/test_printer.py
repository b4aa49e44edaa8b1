"""The layout of the text that is stored."""

from __future__ import annotations

from penstock.registry.formats.protobuf import parse
from tests.support.rows import each_row

WHOLE = """
  // A comment.
syntax = "proto3";
option java_package = "com.acme"; option (note).text = 'it\\'s';
import "google/protobuf/any.proto"; package acme.orders ; import public "b.proto";
service Shop {
  rpc Buy ( Order ) returns ( stream acme.orders.Order );
  option deprecated = true;
  rpc Watch(stream .acme.orders.Order) returns (Order) { option idempotency_level = NO_SIDE_EFFECTS; };
}
enum Size { SMALL = 0; LARGE = 0x10 [deprecated=true]; option (note) = {}; reserved 5 to 7, 9; reserved "HUGE"; }
message Order {
  enum State { NEW = 0; option allow_alias = false; }
  message Line {
    string sku = 1; message Price { int64 cents = 1; } Price price = 2 ; oneof how { bool gift = 3; Size size = 4; } }
  map < string,Line > lines = 4;
  option deprecated = true;
  string id = 1 [ json_name = "ID" , deprecated = true ];
  repeated Line more = 2 [(note) = "x"];
  oneof payment { option (note) = [1, 2]; string card = 5; google.protobuf.Any other = 6; }
  reserved 10 to max; reserved "old", "older";
}
message Empty { ; }
extend google.protobuf.FieldOptions { string unit = 50000; }
"""

CANONICAL = """\
syntax = "proto3";
package acme.orders;

import "google/protobuf/any.proto";
import public "b.proto";

option java_package = "com.acme";
option (note).text = "it\\'s";

message Order {
  reserved 10 to max;
  reserved "old", "older";

  option deprecated = true;

  map<string, Line> lines = 4;
  string id = 1 [
    deprecated = true,
    json_name = "ID"
  ];
  repeated Line more = 2 [(note) = "x"];

  oneof payment {
    option (note) = [
      1,
      2
    ];
__
    string card = 5;
    google.protobuf.Any other = 6;
  }

  message Line {
    string sku = 1;
    Price price = 2;
__
    oneof how {
      bool gift = 3;
      Size size = 4;
    }
__
    message Price {
      int64 cents = 1;
    }
  }
  enum State {
    option allow_alias = false;
    NEW = 0;
  }
}
message Empty {}
enum Size {
  reserved 5 to 7, 9;
  reserved "HUGE";
  option (note) = {
  };
  SMALL = 0;
  LARGE = 16 [deprecated = true];
}

extend google.protobuf.FieldOptions {
  string unit = 50000;
}

service Shop {
  option deprecated = true;

  rpc Buy (Order) returns (stream acme.orders.Order);
  rpc Watch (stream .acme.orders.Order) returns (Order) {
    option idempotency_level = NO_SIDE_EFFECTS;
  };
}
""".replace("__", "  ")  # an empty line within a nested block is indented as the lines around it


def test_the_whole_layout() -> None:
    assert parse(WHOLE, {}, is_new=False).canonical() == CANONICAL
    assert parse(CANONICAL, {}, is_new=False).canonical() == CANONICAL


LAYOUTS = [
    ("", ""),
    ("// nothing", ""),
    ('syntax = "proto2";', 'syntax = "proto2";\n'),
    ('edition = "2023";', 'edition = "2023";\n'),
    ("package a.b;", "package a.b;\n"),
    ("message A {}", "\nmessage A {}\n"),
    ("enum E { X = 1; }", "\nenum E {\n  X = 1;\n}\n"),
    ("enum E { X = 1; } message A {}", "\nmessage A {}\nenum E {\n  X = 1;\n}\n"),
    (
        'import "b"; import weak "w"; import public "p"; import "a";',
        '\nimport "b";\nimport "a";\nimport public "p";\nimport weak "w";\n',
    ),
    (
        "message A { optional int32 a = 1 [default = -0x10]; }",
        "\nmessage A {\n  optional int32 a = 1 [default = -0x10];\n}\n",
    ),
    (
        'message A { optional int32 a = 1 [json_name = "x", default = 5, packed = true]; }',
        '\nmessage A {\n  optional int32 a = 1 [\n    packed = true,\n    default = 5,\n    json_name = "x"\n  ];\n}\n',
    ),
    (
        'message A { optional bytes a = 1 [default = "x"]; }',
        '\nmessage A {\n  optional bytes a = 1 [default = "x"];\n}\n',
    ),
    (
        "message A { optional bytes a = 1 [default = x]; }",
        '\nmessage A {\n  optional bytes a = 1 [default = "x"];\n}\n',
    ),
    (
        "message A { optional group G = 1 { required int32 x = 2; } }",
        "\nmessage A {\n  optional group G = 1 {\n    required int32 x = 2;\n  }\n}\n",
    ),
    (
        "message A { extensions 5, 7 to 9, 100 to max; }",
        "\nmessage A {\n  extensions 5, 7 to 9, 100 to max;\n}\n",
    ),
    (
        "message A { extensions 5 [declaration = {number: 5}, verification = DECLARATION]; }",
        "\nmessage A {\n  extensions 5 [\n    declaration = {\n      number: 5\n    },\n"
        "    verification = DECLARATION\n  ];\n}\n",
    ),
    ("message A { reserved 5 to 5; }", "\nmessage A {\n  reserved 5 to 5;\n}\n"),
    (
        'edition = "2023"; message A { reserved a, b; }',
        'edition = "2023";\n\nmessage A {\n  reserved a, b;\n}\n',
    ),
    ("service S {}", "\nservice S {}\n"),
    (
        "message A { message B {} extend B { optional int32 x = 1; } }",
        "\nmessage A {\n  extend B {\n    optional int32 x = 1;\n  }\n\n  message B {}\n}\n",
    ),
]


@each_row(("text", "canonical"), LAYOUTS)
def test_layouts(text: str, canonical: str) -> None:
    assert parse(text, {}, is_new=False).canonical() == canonical


OPTIONS = [
    ("option a = 1;", "a = 1"),
    ("option a = -1.5e3;", "a = -1.5e3"),
    ("option a = - 5;", "a = -5"),
    ("option a = -inf;", "a = -inf"),
    ("option a = true;", "a = true"),
    ("option a = SOME_CONSTANT;", "a = SOME_CONSTANT"),
    ("option a.b.c = 1;", "a.b.c = 1"),
    ("option (a.b).c.d = 1;", "(a.b).c.d = 1"),
    ("option (.a.b) = 1;", "(.a.b) = 1"),
    ("option (a).(b.c).d = 1;", "(a).(b.c).d = 1"),
    ("option a = 'x' \"y\"\n'z';", 'a = "xyz"'),
    (r"""option a = "\a\b\f\n\r\t\v\\\'\"";""", r'''a = "\a\b\f\n\r\t\v\\\'\""'''),
    (r'option a = "\x41\101\u00e9\U0001f600";', 'a = "AAé\U0001f600"'),
    (r'option a = "\xc3\xa9";', 'a = "é"'),
    (r'option a = "\xff\0";', r'a = "\377\000"'),
    ("option a = {};", "a = {\n}"),
    ("option a = {b: 1};", "a = {\n  b: 1\n}"),
    ("option a = {b: 1, c: 2; d: 3 e: 4};", "a = {\n  b: 1,\n  c: 2,\n  d: 3,\n  e: 4\n}"),
    ("option a = {b {c: 1}};", "a = {\n  b: {\n    c: 1\n  }\n}"),
    ("option a = {b <c: 1>};", "a = {\n  b: {\n    c: 1\n  }\n}"),
    ("option a = {b: 1 b: 2};", "a = {\n  b: [\n    1,\n    2\n  ]\n}"),
    ("option a = {b: [1] b: [2, 3]};", "a = {\n  b: [\n    1,\n    2,\n    3\n  ]\n}"),
    ("option a = {b: []};", "a = {\n  b: [\n  ]\n}"),
    ("option a = {[x.y]: 1};", "a = {\n  [x.y]: 1\n}"),
    ("option a = {[type.acme.com/x.Y] {z: 1}};", "a = {\n  [type.acme.com/x.Y]: {\n    z: 1\n  }\n}"),
    ("option a = [1];", "a = [1]"),
    ("option a = [];", "a = [\n]"),
    ("option a = [1, 2];", "a = [\n  1,\n  2\n]"),
    ('option a = ["x", {y: 1}];', 'a = [\n  "x",\n  {\n    y: 1\n  }\n]'),
    ('option a = {b: "it\'s\\n"};', 'a = {\n  b: "it\\\'s\\n"\n}'),
]


@each_row(("text", "canonical"), OPTIONS)
def test_options(text: str, canonical: str) -> None:
    printed = parse(text, {}, is_new=False).canonical()
    assert printed == f"\noption {canonical};\n"
    assert parse(printed, {}, is_new=False).canonical() == printed


def test_formats() -> None:
    text = """
        import "google/protobuf/descriptor.proto";
        option (other) = 1; option (confluent.file_meta).doc = "kept"; option java_package = "kept";
        message M { option (other) = 1; extensions 5; optional int32 a = 1 [(other) = 1, deprecated = true]; }
        extend google.protobuf.FileOptions { optional int32 other = 50000; }
        extend google.protobuf.MessageOptions { optional int32 others = 50000; }
    """
    schema = parse(text, {}, is_new=False)
    assert schema.formatted("ignore_extensions") == (
        '\nimport "google/protobuf/descriptor.proto";\n\noption (confluent.file_meta).doc = "kept";\n'
        'option java_package = "kept";\n\nmessage M {\n  optional int32 a = 1 [deprecated = true];\n}\n'
    )
    for how in ("", "default", "resolved", "unknown"):
        assert schema.formatted(how) == schema.canonical()
