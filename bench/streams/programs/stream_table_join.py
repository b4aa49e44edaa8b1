"""Orders with the names of their customers, as JSON."""

from typing import Any

from penstock.streams import Program, StreamsBuilder


def with_customer(order: dict[str, Any], customer: dict[str, Any]) -> dict[str, Any]:
    return {**order, "name": customer["name"]}


builder = StreamsBuilder(default_key_serde="string", default_value_serde="json")
builder.stream("events").join(builder.table("customers"), with_customer).to("OUTPUT")
program = Program("APPLICATION", builder.build())
