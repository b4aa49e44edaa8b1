"""Classes of Protobuf messages, as `protoc` would have made them of three files.

// money.proto                         // people/customer.proto
package shop;                          package shop.people;
message Money { int64 cents = 1; }     import "money.proto";
                                       message Customer { string name = 1; shop.Money credit = 2; }

// order.proto
package shop;
import "people/customer.proto"; import "google/protobuf/timestamp.proto";
message Order {
  message Line { string what = 1; message Detail { int32 number = 1; } }
  enum Size { SMALL = 0; LARGE = 1; }
  shop.people.Customer customer = 1; repeated Line lines = 2; Size size = 3;
  google.protobuf.Timestamp at = 4;
}
message Refund { int64 order = 1; }
"""

from google.protobuf import descriptor_pool, message_factory, timestamp_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

Field = FieldDescriptorProto
_SCALARS = {"string": Field.TYPE_STRING, "int64": Field.TYPE_INT64, "int32": Field.TYPE_INT32}


def _field(name: str, number: int, kind: str, repeated: bool = False) -> FieldDescriptorProto:
    label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
    made = Field(name=name, json_name=name, number=number, label=label)
    if kind in _SCALARS:
        made.type = _SCALARS[kind]
    else:
        made.type = Field.TYPE_ENUM if kind == ".shop.Order.Size" else Field.TYPE_MESSAGE
        made.type_name = kind
    return made


def _message(name: str, *fields: FieldDescriptorProto, nested: tuple = ()) -> DescriptorProto:
    return DescriptorProto(name=name, field=fields, nested_type=nested)


def _file(
    name: str, package: str, imports: tuple[str, ...], *messages: DescriptorProto
) -> FileDescriptorProto:
    return FileDescriptorProto(
        name=name, package=package, syntax="proto3", dependency=imports, message_type=messages
    )


def _order() -> DescriptorProto:
    line = _message(
        "Line", _field("what", 1, "string"), nested=(_message("Detail", _field("number", 1, "int32")),)
    )
    order = _message(
        "Order",
        _field("customer", 1, ".shop.people.Customer"),
        _field("lines", 2, ".shop.Order.Line", repeated=True),
        _field("size", 3, ".shop.Order.Size"),
        _field("at", 4, ".google.protobuf.Timestamp"),
        nested=(line,),
    )
    size = order.enum_type.add(name="Size")
    for number, name in enumerate(("SMALL", "LARGE")):
        size.value.add(name=name, number=number)
    return order


_pool = descriptor_pool.DescriptorPool()
for _made in (
    FileDescriptorProto.FromString(timestamp_pb2.DESCRIPTOR.serialized_pb),
    _file("money.proto", "shop", (), _message("Money", _field("cents", 1, "int64"))),
    _file(
        "people/customer.proto",
        "shop.people",
        ("money.proto",),
        _message("Customer", _field("name", 1, "string"), _field("credit", 2, ".shop.Money")),
    ),
    _file(
        "order.proto",
        "shop",
        ("people/customer.proto", "google/protobuf/timestamp.proto"),
        _order(),
        _message("Refund", _field("order", 1, "int64")),
    ),
):
    _pool.AddSerializedFile(_made.SerializeToString())


def message_class(full_name: str) -> type:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(full_name))


Money = message_class("shop.Money")
Order = message_class("shop.Order")
Line = message_class("shop.Order.Line")
Detail = message_class("shop.Order.Line.Detail")
Refund = message_class("shop.Refund")


def next_money() -> type:
    """The class of a later version of Money: `string currency = 2` is new."""
    pool = descriptor_pool.DescriptorPool()
    fields = (_field("cents", 1, "int64"), _field("currency", 2, "string"))
    pool.AddSerializedFile(_file("money.proto", "shop", (), _message("Money", *fields)).SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Money"))
