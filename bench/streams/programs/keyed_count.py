"""How many records each key has."""

from penstock.streams import Program, StreamsBuilder

builder = StreamsBuilder(default_key_serde="string", default_value_serde="json")
builder.stream("events").group_by_key().count().to_stream().to("OUTPUT")
program = Program("APPLICATION", builder.build())
