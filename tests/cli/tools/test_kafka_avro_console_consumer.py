"""The console tools for Avro, JSON Schema and Protobuf: what one writes the other reads, and other clients do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.client import AvroDeserializer, KafkaConsumer, SchemaRegistryClient
from penstock.testing import InProcessRegistry
from tests.cli.running import Cli

pytestmark = pytest.mark.processes

RECORD = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "dish", "type": "string"},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
OBJECT = {"type": "object", "properties": {"cups": {"type": "integer", "minimum": 1}}, "required": ["cups"]}
MESSAGE = 'syntax = "proto3"; package shop; message Order { string dish = 1; int64 cups = 2; }'


class Tools:
    """The producer and the consumer of one format, at one topic."""

    def __init__(self, cli: Cli, registry: str, topic: str) -> None:
        self.cli, self.registry, self.topic = cli, registry, topic

    def produce(self, kind: str, lines: str, *properties: str) -> tuple[int, str]:
        done = self.cli.run(
            f"{kind}-console-producer",
            "--topic",
            self.topic,
            *self._flags("--reader-property", properties),
            stdin=lines,
        )
        return done.returncode, done.stderr

    def consume(
        self, kind: str, count: int, *properties: str, flags: tuple[str, ...] = ()
    ) -> tuple[list[str], str]:
        limits = ("--from-beginning", "--max-messages", str(count), "--timeout-ms", "20000")
        done = self.cli.run(
            *(f"{kind}-console-consumer", "--topic", self.topic, *limits, *flags),
            *self._flags("--formatter-property", properties),
        )
        return done.stdout.splitlines(), done.stderr

    def _flags(self, flag: str, properties: tuple[str, ...]) -> list[str]:
        all_of_them = (f"schema.registry.url={self.registry}", *properties)
        return [word for each in all_of_them for word in (flag, each)]


@pytest.fixture
def tools(cli: Cli, penstock_registry: InProcessRegistry, penstock_topic: str) -> Tools:
    return Tools(cli, penstock_registry.url, penstock_topic)


def test_avro(tools: Tools) -> None:
    lines = '{"dish": "pho", "note": null}\n{"dish": "käse", "note": {"string": "cold"}}\n'
    assert tools.produce("avro", lines, f"value.schema={json.dumps(RECORD)}") == (0, "")
    shown, _ = tools.consume("avro", 2)
    assert shown == ['{"dish":"pho","note":null}', '{"dish":"käse","note":{"string":"cold"}}']
    with KafkaConsumer(
        tools.topic,
        bootstrap_servers=tools.cli.bootstrap_servers,
        group_id=tools.topic,
        auto_offset_reset="earliest",
        value_deserializer=AvroDeserializer(registry=tools.registry),
    ) as consumer:
        assert next(iter(consumer)).value == {"dish": "pho", "note": None}


def test_keys_ids_and_schemas_of_the_registry(tools: Tools, tmp_path: Path) -> None:
    with SchemaRegistryClient(tools.registry) as registry:
        keys = ("parse.key=true", "key.separator=|", "null.marker=NIL", 'key.schema="long"')
        (tmp_path / "order.avsc").write_text(json.dumps(RECORD))
        file = f"value.schema.file={tmp_path / 'order.avsc'}"
        assert tools.produce("avro", '7|{"dish": "pho", "note": null}\n8|NIL\n', *keys, file) == (0, "")
        value_id = registry.latest_version(f"{tools.topic}-value").id
        key_id = registry.latest_version(f"{tools.topic}-key").id
        text = "key.serializer=org.apache.kafka.common.serialization.StringSerializer"
        by_id = ("parse.key=true", "key.separator=|", text, f"value.schema.id={value_id}")
        assert tools.produce("avro", 'table|{"dish": "laksa", "note": null}\n', *by_id) == (0, "")
        shown, _ = tools.consume(
            "avro", 2, "print.key=true", "print.schema.ids=true", "schema.id.separator=#"
        )
        assert shown == [f'7#{key_id}\t{{"dish":"pho","note":null}}#{value_id}', f"8#{key_id}\tnull"]
        string = "key.deserializer=org.apache.kafka.common.serialization.StringDeserializer"
        shown, _ = tools.consume("avro", 3, "print.key=true", string)
        assert shown[2] == 'table\t{"dish":"laksa","note":null}'


def test_what_does_not_fit_says_so(tools: Tools) -> None:
    schema = f"value.schema={json.dumps(RECORD)}"
    code, said = tools.produce("avro", '{"dish": "pho", "note": null}\n{"dish": 7, "note": null}\n', schema)
    assert code == 1
    assert "line 2: value.dish: " in said
    assert tools.consume("avro", 1)[0] == ['{"dish":"pho","note":null}']
    assert "line 1: value: not JSON" in tools.produce("avro", "pho\n", schema)[1]
    code, said = tools.produce("avro", "1\n")
    assert (code, said.count("\n")) == (1, 1)
    assert (
        "Must provide the AVRO schema of values in value.schema or value.schema.file or value.schema.id"
        in said
    )
    strict = ("auto.register.schemas=false", 'value.schema="int"')
    assert "Schema not found" in tools.produce("avro", "1\n", *strict)[1]
    assert "value.schema: not an Avro schema" in tools.produce("avro", "1\n", "value.schema={", strict[0])[1]


def test_bytes_without_a_schema_are_skipped_if_asked(tools: Tools) -> None:
    tools.cli.output("console-producer", "--topic", tools.topic, stdin="plain\n")
    tools.produce("avro", "1\n", 'value.schema="int"')
    shown, said = tools.consume("avro", 2)
    assert shown == []
    assert f"{tools.topic}-0 at offset 0: value: the prefix begins with byte 112" in said
    assert tools.consume("avro", 2, flags=("--skip-message-on-error",))[0] == ["1"]


def test_json_schema(tools: Tools) -> None:
    schema = f"value.schema={json.dumps(OBJECT)}"
    assert tools.produce("json-schema", '{"cups": 2, "a": [1, {}]}\n', schema) == (0, "")
    assert tools.consume("json-schema", 1)[0] == ['{"cups":2,"a":[1,{}]}']
    code, said = tools.produce("json-schema", '{"cups": 0}\n', schema)
    assert code == 1
    assert "line 1: value.cups: 0 is less than the minimum of 1" in said


def test_protobuf(tools: Tools) -> None:
    assert tools.produce("protobuf", '{"dish": "pho"}\n', f"value.schema={MESSAGE}") == (0, "")
    assert tools.consume("protobuf", 1)[0] == ['{"dish":"pho","cups":"0"}']
    code, said = tools.produce("protobuf", '{"dich": "pho"}\n', f"value.schema={MESSAGE}")
    assert code == 1
    assert "line 1: value: is no shop.Order" in said


def test_confluents_classes_in_kafkas_own_tools(tools: Tools) -> None:
    """That is what the tools are made of, there and here."""
    reader = ("--line-reader", "io.confluent.kafka.formatter.AvroMessageReader")
    url = f"schema.registry.url={tools.registry}"
    words = ("--topic", tools.topic, *reader, "--property", url, "--property", 'value.schema="string"')
    tools.cli.output("console-producer", *words, stdin='"pho"\n')
    formatter = ("--formatter", "io.confluent.kafka.formatter.AvroMessageFormatter", "--property", url)
    limits = ("--from-beginning", "--max-messages", "1")
    shown = tools.cli.output("console-consumer", "--topic", tools.topic, *formatter, *limits)
    assert shown.splitlines()[-1] == '"pho"'


def test_a_registry_that_is_not_there(tools: Tools) -> None:
    tools.registry = "http://127.0.0.1:9"
    code, said = tools.produce("avro", "1\n", 'value.schema="int"')
    assert (code, said.count("\n")) == (1, 1)
    assert "http://127.0.0.1:9" in said


@pytest.mark.parametrize("kind", ["avro", "json-schema", "protobuf"])
def test_help_names_the_properties_of_schemas(cli: Cli, kind: str) -> None:
    for which, names in (
        ("producer", ("value.schema=", "schema.registry.url")),
        ("consumer", ("print.schema.ids",)),
    ):
        said = cli.run(f"{kind}-console-{which}", "--help")
        assert all(name in said.stderr + said.stdout for name in names)
