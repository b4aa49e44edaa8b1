"""The files of Confluent that a schema may import: documentation and tags of elements, decimals, variants."""

META_PATH = "confluent/meta.proto"

_META_EXTENSIONS = {
    "FileOptions": "file_meta",
    "MessageOptions": "message_meta",
    "FieldOptions": "field_meta",
    "EnumOptions": "enum_meta",
    "EnumValueOptions": "enum_value_meta",
}
_META = """\
syntax = "proto3";
package confluent;

import "google/protobuf/descriptor.proto";

option java_package = "io.confluent.protobuf";
option java_outer_classname = "MetaProto";

message Meta {
  string doc = 1;
  map<string, string> params = 2;
  repeated string tags = 3;
  repeated Rule rules = 4;
}
message Rule {
  string name = 1;
  string doc = 2;
  string expr = 3;
  string sql = 4;
}

""" + "".join(
    f"extend google.protobuf.{options} {{\n  Meta {name} = 1088;\n}}\n"
    for options, name in _META_EXTENSIONS.items()
)


def _value_type(name: str, fields: str) -> str:
    return f"""\
syntax = "proto3";
package confluent.type;

option java_package = "io.confluent.protobuf.type";
option java_multiple_files = true;
option java_outer_classname = "{name}Proto";

message {name} {{
{fields}}}
"""


CONFLUENT_TYPES = {
    META_PATH: _META,
    "confluent/type/decimal.proto": _value_type(
        "Decimal", "  bytes value = 1;\n  uint32 precision = 2;\n  int32 scale = 3;\n"
    ),
    "confluent/type/variant.proto": _value_type("Variant", "  bytes metadata = 1;\n  bytes value = 2;\n"),
}
