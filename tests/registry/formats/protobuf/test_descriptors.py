"""Base64 of descriptors, files that are built in, indexes of messages."""

from __future__ import annotations

import base64
from importlib import import_module

import pytest
from google.protobuf import descriptor_pb2

from penstock.registry.formats.protobuf import descriptors, parse
from penstock.registry.formats.protobuf.built_in import BUILT_IN_PATHS
from penstock.registry.formats.protobuf.option_values import message_of, pool_of
from tests.support.rows import each_row

TEXT = """
syntax = "proto3";
package acme;
import "confluent/meta.proto"; import "google/protobuf/timestamp.proto";
option java_package = "x"; option java_multiple_files = true; option go_package = "g"; option optimize_for = CODE_SIZE;
message Order {
  map<string, Line> lines = 3;
  optional int64 n = 1;
  google.protobuf.Timestamp at = 2 [(confluent.field_meta) = {doc: "d"
    params: [{key: "scale" value: "2"}] tags: "PII"}];
  oneof how { string card = 4; }
  message Line { string sku = 1 [json_name = "SKU", jstype = JS_STRING, deprecated = true]; }
  enum Kind { A = 0; }
  reserved 10 to 20; reserved "old";
}
"""

AS_DESCRIPTOR = """\
syntax = "proto3";
package acme;

import "confluent/meta.proto";
import "google/protobuf/timestamp.proto";

option java_package = "x";
option java_multiple_files = true;
option optimize_for = CODE_SIZE;
option go_package = "g";

message Order {
  reserved 10 to 20;
  reserved "old";

  repeated .acme.Order.LinesEntry lines = 3;
  optional int64 n = 1;
  .google.protobuf.Timestamp at = 2 [(confluent.field_meta) = {
    doc: "d",
    params: [
      {
        value: "2",
        key: "scale"
      }
    ],
    tags: [
      "PII"
    ]
  }];

  oneof how {
    string card = 4;
  }

  message Line {
    string sku = 1 [
      jstype = JS_STRING,
      deprecated = true,
      json_name = "SKU"
    ];
  }
  message LinesEntry {
    option map_entry = true;
__
    string key = 1;
    .acme.Order.Line value = 2;
  }
  enum Kind {
    A = 0;
  }
}
""".replace("__", "  ")


def test_base64_both_ways() -> None:
    schema = parse(TEXT, {})
    serialized = schema.formatted("serialized")
    again = parse(serialized, {})
    assert again.canonical() == AS_DESCRIPTOR
    assert again.normalized().canonical() == schema.normalized().canonical()
    assert again.formatted("serialized") == serialized
    assert again.incompatibilities_with(schema) == schema.incompatibilities_with(again) == []


def test_base64_is_the_descriptor_that_serializers_build_classes_of() -> None:
    schema = parse(TEXT, {})
    file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(schema.formatted("serialized")))
    assert file == descriptors(schema)[-1]
    assert (file.name, file.package) == ("default", "acme")
    order = message_of(pool_of(descriptors(schema)), "acme.Order")
    order.lines["a"].sku = "b"
    order.at.seconds = 5
    assert type(order).FromString(order.SerializeToString()) == order


def test_dependencies_come_first() -> None:
    references = {
        "a.proto": 'import "b.proto"; import "c.proto"; message A { optional B b = 1; }',
        "b.proto": 'import "c.proto"; message B { optional C c = 1; }',
        "c.proto": "message C {}",
        "unused.proto": "message Unused {}",
    }
    schema = parse('import "a.proto"; message M { optional A a = 1; }', references)
    assert [each.name for each in schema.descriptors("m.proto")] == [
        "c.proto",
        "b.proto",
        "a.proto",
        "m.proto",
    ]
    assert (
        pool_of(schema.descriptors()).FindMessageTypeByName("M").fields_by_name["a"].message_type.full_name
        == "A"
    )


def test_an_import_that_nobody_has_is_left_out() -> None:
    text = 'import "validate.proto"; message M { optional int32 a = 1 [(validate.rules).int32.gt = 0]; }'
    schema = parse(text, {})
    assert 'import "validate.proto";' in schema.canonical()
    (file,) = schema.descriptors()
    assert not file.dependency
    assert pool_of([file]).FindMessageTypeByName("M")


@each_row("path", sorted(BUILT_IN_PATHS))
def test_built_in_files_can_be_imported(path: str) -> None:
    schema = parse(f'syntax = "proto3"; import "{path}"; message M {{}}', {})
    pool = pool_of(schema.descriptors())
    assert pool.FindFileByName(path).name == path


@each_row("path", sorted(each for each in BUILT_IN_PATHS if each.startswith("google/type/")))
def test_common_types_are_googles(path: str) -> None:
    module = import_module(path.removesuffix(".proto").replace("/", ".") + "_pb2")
    googles = descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    ours = parse(f'import "{path}";', {}).descriptors()[-2]
    assert ours == googles


def test_decimals_of_confluent() -> None:
    text = 'syntax = "proto3"; import "confluent/type/decimal.proto"; message M { confluent.type.Decimal d = 1; }'
    message = message_of(pool_of(parse(text, {}).descriptors()), "M")
    message.d.value, message.d.precision, message.d.scale = b"\x01\x00", 5, -2
    assert message.SerializeToString() == bytes.fromhex(
        "0a11 0a02 0100 1005 18fe ffffffffffffffff 01".replace(" ", "")
    )


def test_a_reference_may_replace_what_is_built_in() -> None:
    own = "package google.protobuf; message Timestamp { optional string text = 1; }"
    text = 'import "google/protobuf/timestamp.proto"; message M { optional google.protobuf.Timestamp t = 1; }'
    schema = parse(text, {"google/protobuf/timestamp.proto": own})
    assert schema.incompatibilities_with(parse(text, {}))[0].path == "#/Timestamp/1"


NESTED = """
package acme;
enum First { X = 1; }
message A { message B { message C {} } optional int32 x = 1; map<string, B> m = 2; enum E { Y = 1; } message D {} }
message F { optional group G = 1 {} message H {} }
"""
INDEXES = [
    ([0], "acme.A"),
    ([0, 0], "acme.A.B"),
    ([0, 0, 0], "acme.A.B.C"),
    ([0, 1], "acme.A.D"),
    ([1], "acme.F"),
    ([1, 0], "acme.F.H"),
]


@pytest.mark.parametrize(("indexes", "name"), INDEXES)
def test_message_indexes(indexes: list[int], name: str) -> None:
    schema = parse(NESTED, {})
    assert schema.message_indexes(name) == indexes
    assert schema.message_indexes(f".{name}") == indexes
    assert schema.message_indexes(name.removeprefix("acme.")) == indexes
    assert schema.message_name(indexes) == name


@pytest.mark.parametrize(("indexes", "name"), INDEXES)
def test_message_indexes_are_those_of_the_descriptor(indexes: list[int], name: str) -> None:
    schema = parse(NESTED, {})
    for each in (
        schema,
        parse(schema.canonical(), {}),
        schema.normalized(),
        parse(schema.formatted("serialized"), {}),
    ):
        file = each.descriptors()[-1]
        message = file.message_type[indexes[0]]
        for index in indexes[1:]:
            message = message.nested_type[index]
        assert message.name == name.rpartition(".")[2]
        assert each.message_name(indexes) == name


def test_no_index_is_the_first_message() -> None:
    assert parse(NESTED, {}).message_name([]) == "acme.A"


@pytest.mark.parametrize("indexes", [[2], [0, 2], [0, 0, 0, 0], [-1]])
def test_no_message_at_an_index(indexes: list[int]) -> None:
    with pytest.raises(LookupError, match="the schema has no message at"):
        parse(NESTED, {}).message_name(indexes)


@pytest.mark.parametrize("name", ["acme.Z", "acme.A.Z", "other.A", "acme.First", ""])
def test_no_message_of_a_name(name: str) -> None:
    with pytest.raises(LookupError, match="the schema has no message"):
        parse(NESTED, {}).message_indexes(name)


def test_a_file_that_only_imports_another_publicly() -> None:
    schema = parse('import public "a.proto";', {"a.proto": NESTED})
    assert schema.message_indexes("acme.A.D") == [0, 1]
    assert schema.message_name([1, 0]) == "acme.F.H"
    with pytest.raises(LookupError):
        parse('import public "a.proto"; message Own {}', {"a.proto": NESTED}).message_indexes("acme.A")
