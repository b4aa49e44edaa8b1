"""The bytes of `_schemas`. The expected ones are written down as Confluent's registry writes them."""

import base64
import hashlib
import json

import pytest

from penstock.registry import stored
from penstock.registry.stored import Reference, StoredSchema

KEYS = [
    (stored.SchemaKey("orders", 3), '{"keytype":"SCHEMA","subject":"orders","version":3,"magic":1}'),
    (stored.ConfigKey(None), '{"keytype":"CONFIG","magic":0}'),
    (stored.ConfigKey("orders"), '{"keytype":"CONFIG","subject":"orders","magic":0}'),
    (stored.ModeKey(":.c:"), '{"keytype":"MODE","subject":":.c:","magic":0}'),
    (stored.DeleteSubjectKey("orders"), '{"keytype":"DELETE_SUBJECT","subject":"orders","magic":0}'),
    (stored.ClearSubjectKey("orders"), '{"keytype":"CLEAR_SUBJECT","subject":"orders","magic":0}'),
    (stored.ContextKey(".c"), '{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}'),
    (stored.OtherKey("NOOP"), '{"keytype":"NOOP","magic":0}'),
]


@pytest.mark.parametrize(("key", "text"), KEYS)
def test_keys(key: stored.Key, text: str) -> None:
    assert stored.encode_key(key) == text.encode()
    assert stored.decode_key(text.encode()) == key


def test_keys_of_older_and_newer_registries() -> None:
    assert stored.decode_key(b'{"magic":0,"keytype":"CONFIG","subject":null}') == stored.ConfigKey(None)
    assert stored.decode_key(b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":0}') == stored.SchemaKey(
        "a", 1
    )
    assert stored.decode_key(b'{"keytype":"ASSOC","guid":"x","magic":0}') == stored.OtherKey("ASSOC")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "key is no JSON"),
        (b"\xff\xfe", "key is no JSON"),
        (b"[1]", "key is no JSON object"),
        (b"{}", "key has no keytype"),
        (b'{"keytype":5}', "key has no keytype"),
        (b'{"keytype":"SCHEMA","version":1}', "SCHEMA key: subject: got None, takes a string"),
        (b'{"keytype":"SCHEMA","subject":"a","version":"1"}', "SCHEMA key: version: got '1', takes a number"),
        (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":2}', "magic byte 2, takes 0 or 1"),
        (b'{"keytype":"CONFIG","subject":[]}', r"CONFIG key: subject: got \[\], takes a string"),
        (b"[" * 100_000, "key is no JSON"),
    ],
)
def test_malformed_keys(data: bytes, complaint: str) -> None:
    with pytest.raises(stored.MalformedRecord, match=complaint):
        stored.decode_key(data)


def test_a_plain_schema() -> None:
    text = '"string"'
    schema = StoredSchema("orders", 1, 1, text, md5=hashlib.md5(text.encode()).digest())
    assert stored.encode_schema(schema) == (
        b'{"subject":"orders","version":1,"id":1,"schemaType":"AVRO","schema":"\\"string\\"","deleted":false}'
    )
    assert stored.decode_schema(stored.encode_schema(schema)) == schema


def test_a_schema_with_everything() -> None:
    value = (
        '{"subject":"orders","version":2,"id":7,"schemaType":"PROTOBUF","references":[{"name":"a.proto","subject":"a",'
        '"version":1}],"metadata":{"tags":{"**.pin":["PII"]},"properties":{"owner":"ada"},"sensitive":["pin"]},'
        '"ruleSet":{"domainRules":[{"name":"r","doc":"why","kind":"CONDITION","mode":"WRITE","type":"CEL","tags":["A",'
        '"B"],"params":{"k":"v"},"expr":"true","onSuccess":"NONE","onFailure":"DLQ","disabled":true}],'
        '"enableAt":"CLIENT"},"schema":"syntax = \\"proto3\\";","deleted":true}'
    )
    schema = stored.decode_schema(value.encode(), timestamp_ms=5)
    assert schema.references == (Reference("a.proto", "a", 1),)
    assert (schema.deleted, schema.schema_type, schema.timestamp_ms) == (True, "PROTOBUF", 5)
    assert stored.encode_schema(schema) == value.encode()
    digested = (
        'syntax = "proto3";a.protoa\0\0\0\x01'
        "\x01**.pinPIIowneradapin"
        "\x01rwhyCONDITIONWRITECELABkvtrueNONEDLQ\x01CLIENT"
    )
    assert schema.md5 == hashlib.md5(digested.encode()).digest()


def test_a_value_of_the_first_registries() -> None:
    schema = stored.decode_schema(b'{"subject":"a","version":1,"id":1,"schema":"\\"int\\"","deleted":false}')
    assert (schema.schema_type, schema.references, schema.metadata) == ("AVRO", (), None)
    no_flag = stored.decode_schema(b'{"subject":"a","version":1,"id":1,"schema":"\\"int\\""}')
    assert no_flag == schema


def test_the_md5_of_encrypted_metadata_stays() -> None:
    md5 = base64.b64encode(bytes(range(16))).decode()
    value = (
        f'{{"subject":"a","version":1,"id":1,"md5":"{md5}","schemaType":"AVRO",'
        '"schema":"\\"int\\"","deleted":false}'
    )
    schema = stored.decode_schema(value.encode())
    assert schema.guid == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert stored.encode_schema(schema) == value.encode()


def test_text_beyond_ascii_stays_readable_and_lone_surrogates_survive() -> None:
    key = stored.encode_key(stored.ConfigKey("grüße"))
    assert key.decode() == '{"keytype":"CONFIG","subject":"grüße","magic":0}'
    odd = json.loads('"\\ud800"')
    schema = StoredSchema("a", 1, 1, odd, md5=stored.digest(odd, (), None, None))
    assert stored.decode_schema(stored.encode_schema(schema)) == schema


@pytest.mark.parametrize(
    "value",
    [
        b"x",
        b"5",
        b'{"subject":"a","version":1,"id":1}',
        b'{"subject":"a","version":1,"id":"1","schema":""}',
        b'{"subject":"a","version":1,"id":1,"schema":"","references":[1]}',
        b'{"subject":"a","version":1,"id":1,"schema":"","metadata":[]}',
        b'{"subject":"a","version":1,"id":1,"schema":"","md5":"AAAA"}',
        b'{"subject":"a","version":1,"id":1,"schema":"","md5":"?"}',
    ],
)
def test_malformed_schemas(value: bytes) -> None:
    with pytest.raises(stored.MalformedRecord):
        stored.decode_schema(value)


def test_configs_and_modes_and_the_rest() -> None:
    config = {"alias": "b", "normalize": False, "compatibilityLevel": "FULL", "defaultMetadata": {}}
    value = stored.encode_config("a", config)
    assert value == (
        b'{"subject":"a","alias":"b","normalize":false,"compatibilityLevel":"FULL","defaultMetadata":{}}'
    )
    assert stored.decode_config(value) == config
    assert stored.decode_config(b'{"compatibilityLevel":"NONE"}') == {"compatibilityLevel": "NONE"}
    assert stored.encode_mode(None, "IMPORT") == b'{"mode":"IMPORT"}'
    assert stored.decode_mode(b'{"subject":"a","mode":"READONLY"}') == "READONLY"
    assert stored.encode_deleted_subject("a", 3) == b'{"subject":"a","version":3}'
    assert stored.encode_cleared_subject("a") == b'{"subject":"a"}'
    assert stored.encode_context(".c") == b'{"tenant":"default","context":".c"}'
