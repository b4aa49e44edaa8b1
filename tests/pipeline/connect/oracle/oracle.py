"""Kafka Connect's own classes, in one JVM that answers questions; and the same questions put to ours."""

from __future__ import annotations

import base64
import importlib
import json
import subprocess
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.pipeline.connect import converters, predicates, transforms
from penstock.pipeline.connect.api import SchemaAndValue
from penstock.pipeline.connect.converters.json_converter import JsonConverter
from penstock.pipeline.connect.data import ConnectRecord, Headers, SinkRecord, SourceRecord
from penstock.pipeline.connect.data.java_text import millis_of
from tests.support import apache_connect
from tests.support.processes import dying_with_us
from tests.support.toolchains import JVM_FLAGS, java_program

Envelope = dict[str, Any] | None
FLAGS = (*JVM_FLAGS, "-Duser.timezone=UTC", "-Duser.language=en", "-Duser.country=US", "-Dlog.level=OFF")
CLASSES = {**converters.JAVA_NAMES, **predicates.JAVA_NAMES, **transforms.JAVA_NAMES}


def class_of(java_name: str) -> Any:
    module, _, name = CLASSES[java_name].partition(":")
    return getattr(importlib.import_module(module), name)


class Java:
    def __init__(self) -> None:
        source = Path(__file__).parent / "java"
        command = java_program("connect-oracle", source, "ConnectOracle", FLAGS, apache_connect.JARS)
        self._process = subprocess.Popen(
            dying_with_us(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )

    def ask(self, **question: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        said: dict[str, Any] = json.loads(self._process.stdout.readline(), parse_float=Decimal)
        return said

    def close(self) -> None:
        self._process.communicate(timeout=30)


def _envelopes() -> JsonConverter:
    converter = JsonConverter()
    converter.configure({"decimal.format": "NUMERIC", "replace.null.with.default": "false"})
    return converter


ENVELOPES = _envelopes()


def value_of(envelope: Envelope) -> SchemaAndValue:
    return ENVELOPES.to_connect("", None if envelope is None else json.dumps(envelope).encode())


def envelope_of(schema: Any, value: Any) -> Envelope:
    data = ENVELOPES.from_connect("", schema, plain(value) if schema is None else value)
    return None if data is None else json.loads(data, parse_float=Decimal)


def plain(value: Any) -> Any:
    """Without a schema, dates have no form in JSON: they are told by their milliseconds."""
    if isinstance(value, date | time):
        return f"date {millis_of(value)}"
    if isinstance(value, Decimal):
        return f"decimal {value}"
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def record_of(given: Mapping[str, Any]) -> ConnectRecord:
    key, value = value_of(given["key"]), value_of(given["value"])
    headers = Headers()
    for name, envelope in given["headers"]:
        schema, inner = value_of(envelope)
        headers.add(name, inner, schema)
    shared = {
        "value": value.value,
        "value_schema": value.schema,
        "key": key.value,
        "key_schema": key.schema,
        "timestamp": given["timestamp"],
        "headers": headers,
    }
    if given["offset"] is None:
        return SourceRecord({}, {}, given["topic"], partition=given["partition"], **shared)
    return SinkRecord(given["topic"], given["partition"], given["offset"], **shared)


def told(record: ConnectRecord | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {
        "topic": record.topic,
        "partition": record.partition,
        "timestamp": record.timestamp,
        "key": envelope_of(record.key_schema, record.key),
        "value": envelope_of(record.value_schema, record.value),
        "headers": [[each.key, envelope_of(each.schema, each.value)] for each in record.headers],
    }


def transformed(java_name: str, configs: Mapping[str, str], record: Mapping[str, Any]) -> dict[str, Any]:
    """What our class makes of a record, in the words of the oracle."""
    said: dict[str, Any] = {"stage": "configure"}
    try:
        transformation = class_of(java_name)()
        transformation.configure(configs)
        said["stage"] = "apply"
        changed = transformation.apply(record_of(record))
        said["stage"] = "tell"
        said |= {"record": told(changed), "stage": "done"}
    except PenstockError as error:
        said["error"] = str(error)
    return said


def converted(java_name: str, configs: Mapping[str, str], data: bytes | None) -> dict[str, Any]:
    try:
        converter = class_of(java_name)()
        converter.configure(configs, False)
        return {"value": envelope_of(*converter.to_connect("topic", data))}
    except PenstockError as error:
        return {"error": str(error)}


def written(java_name: str, configs: Mapping[str, str], envelope: Envelope) -> dict[str, Any]:
    try:
        converter = class_of(java_name)()
        converter.configure(configs, False)
        schema, value = value_of(envelope)
        data = converter.from_connect("topic", schema, value)
        return {"data": None if data is None else base64.b64encode(data).decode()}
    except PenstockError as error:
        return {"error": str(error)}
