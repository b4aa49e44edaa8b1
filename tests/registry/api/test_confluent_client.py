"""Confluent's own client for Python, against this registry."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from confluent_kafka.schema_registry.error import SchemaRegistryError

from tests.registry.api.schemas import USER, USER_WITH_AGE, USER_WITH_EMAIL, enum
from tests.support.registry import Registry


@pytest.fixture(scope="module")
def client(registry: Registry) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry.url}) as client:
        yield client


def test_register_and_read(client: SchemaRegistryClient) -> None:
    schema_id = client.register_schema("users-value", Schema(USER, "AVRO"))
    assert client.get_schema(schema_id).schema_str == USER
    latest = client.get_latest_version("users-value")
    assert (latest.schema_id, latest.version, latest.subject) == (schema_id, 1, "users-value")
    assert client.get_versions("users-value") == [1]
    assert client.get_version("users-value", 1).schema.schema_str == USER
    assert "users-value" in client.get_subjects()
    assert client.lookup_schema("users-value", Schema(USER, "AVRO")).version == 1


def test_compatibility(client: SchemaRegistryClient) -> None:
    client.register_schema("compatible-value", Schema(USER, "AVRO"))
    assert client.test_compatibility("compatible-value", Schema(USER_WITH_AGE, "AVRO"))
    assert not client.test_compatibility("compatible-value", Schema(USER_WITH_EMAIL, "AVRO"))
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema("compatible-value", Schema(USER_WITH_EMAIL, "AVRO"))
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)


def test_config(client: SchemaRegistryClient) -> None:
    client.set_compatibility("config-value", "FULL")
    assert client.get_compatibility("config-value") == "FULL"
    client.set_config("config-value", ServerConfig(compatibility=ConfigCompatibilityLevel.NONE))
    assert client.get_config("config-value").compatibility_level == "NONE"
    client.delete_config("config-value")
    with pytest.raises(SchemaRegistryError) as missing:
        client.get_config("config-value")
    assert missing.value.error_code == 40408


def test_references_and_deletion(client: SchemaRegistryClient) -> None:
    client.register_schema("colour", Schema(enum("RED"), "AVRO"))
    car = '{"type":"record","name":"Car","fields":[{"name":"colour","type":"Colour"}]}'
    schema_id = client.register_schema("car", Schema(car, "AVRO", [SchemaReference("Colour", "colour", 1)]))
    assert client.get_referenced_by("colour", 1) == [schema_id]
    assert client.delete_subject("car") == [1]
    assert client.delete_subject("car", permanent=True) == [1]
    assert client.delete_version("colour", 1) == 1


def test_metadata(client: SchemaRegistryClient) -> None:
    metadata = Metadata(tags=None, properties=MetadataProperties({"team": "sea"}), sensitive=None)
    client.register_schema("metadata-value", Schema(USER, "AVRO", metadata=metadata))
    found = client.get_latest_with_metadata("metadata-value", {"team": "sea"})
    assert found.schema.metadata.properties.properties == {"team": "sea"}


def test_contexts_and_modes(client: SchemaRegistryClient) -> None:
    client.register_schema(":.side:thing", Schema(USER, "AVRO"))
    assert ".side" in client.get_contexts()
    client.update_mode(":.side:thing", "READONLY")
    assert client.get_mode(":.side:thing") == "READONLY"


def test_an_unknown_schema(client: SchemaRegistryClient) -> None:
    with pytest.raises(SchemaRegistryError) as missing:
        client.get_schema(987654)
    assert (missing.value.http_status_code, missing.value.error_code) == (404, 40403)


@pytest.mark.parametrize(
    ("schema_type", "text", "incompatible"),
    [
        (
            "JSON",
            '{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}',
            '{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}',
        ),
        (
            "PROTOBUF",
            'syntax = "proto3";\n\nmessage Thing {\n  string a = 1;\n}\n',
            'syntax = "proto3";\n\nmessage Thing {\n  bool a = 1;\n}\n',
        ),
    ],
)
def test_other_formats(client: SchemaRegistryClient, schema_type: str, text: str, incompatible: str) -> None:
    subject = f"{schema_type}-value"
    schema_id = client.register_schema(subject, Schema(text, schema_type))
    found = client.get_schema(schema_id)
    assert (found.schema_type, found.schema_str) == (schema_type, text)
    assert not client.test_compatibility(subject, Schema(incompatible, schema_type))
