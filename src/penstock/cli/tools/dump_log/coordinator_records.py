"""The records of `__consumer_offsets`, `__transaction_state` and `__share_group_state`, in Kafka's JSON."""

import base64
import json
from collections.abc import Callable
from typing import Any

from penstock.cli.tools.console.stored_json import message_as_json
from penstock.cli.tools.dump_log.errors import DumpError
from penstock.cli.tools.dump_log.records import Decoder
from penstock.errors import ProtocolError
from penstock.group.consumer_protocol import AssignedPartitions, Subscription
from penstock.records.reader import Record
from penstock.wire.codec import decode_message
from penstock.wire.schema import RecordTypes, StoredMessage, VersionedMessage
from penstock.wire.stored import group, share_group, share_state, streams_group, transaction
from penstock.wire.stored_records import decode_key

DELETED = "<DELETE>"
CONSUMER_PROTOCOL = "consumer"
KEY_VERSION = 0
PREFIX_SIZE = 2

ValueAsJson = Callable[[StoredMessage, int], dict[str, Any]]


class _Skipped(Exception):
    """A record that can't be read."""


def offsets_decoder() -> Decoder:
    types = {**group.RECORD_TYPES, **share_group.RECORD_TYPES, **streams_group.RECORD_TYPES}
    return _decoder(types, _group_value_as_json)


def transaction_log_decoder() -> Decoder:
    return _decoder(transaction.RECORD_TYPES, message_as_json)


def share_group_state_decoder() -> Decoder:
    return _decoder(share_state.RECORD_TYPES, message_as_json)


def _decoder(types: RecordTypes, value_as_json: ValueAsJson) -> Decoder:
    def decode(record: Record) -> tuple[str | None, str | None]:
        if record.key is None:
            raise DumpError(
                f"Failed to decode message at offset {record.offset} using the specified decoder "
                "(message had a missing key)"
            )
        try:
            return _decode(types, value_as_json, record)
        except _Skipped as reason:
            return f"Error at offset {record.offset}, skipping. {reason}", None

    return decode


def _decode(types: RecordTypes, value_as_json: ValueAsJson, record: Record) -> tuple[str, str | None]:
    assert record.key is not None
    record_type = _prefix(record.key, "key")
    if record_type not in types:
        return f"Unknown record type {record_type} at offset {record.offset}, skipping.", None
    try:
        key = decode_key(types, record.key)
    except ProtocolError as error:
        raise _unreadable("key", record_type, error) from None
    assert key is not None
    key_text = json_text({"type": str(record_type), "data": message_as_json(key, KEY_VERSION)})
    if record.value is None:
        return key_text, DELETED
    version, value = _value(types, record_type, record.value)
    return key_text, json_text({"version": str(version), "data": value_as_json(value, version)})


def _prefix(data: bytes, name: str) -> int:
    if len(data) < PREFIX_SIZE:
        raise _Skipped(f"Could not read version from {name}'s buffer.")
    return int.from_bytes(data[:PREFIX_SIZE], "big", signed=True)


def _value(types: RecordTypes, record_type: int, data: bytes) -> tuple[int, StoredMessage]:
    kind, version = types[record_type][1], _prefix(data, "value")
    if not kind.VERSIONS[0] <= version <= kind.VERSIONS[1]:
        raise _Skipped(f"Found an unknown record version {version} for {record_type} type")
    try:
        return version, decode_message(kind, version, memoryview(data), PREFIX_SIZE)
    except ProtocolError as error:
        raise _unreadable("value", version, error) from None


def _unreadable(name: str, version: int, error: ProtocolError) -> _Skipped:
    return _Skipped(f"Could not read record with version {version} from {name}'s buffer due to: {error}.")


def json_text(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# --- what members of classic groups tell each other


def _group_value_as_json(value: StoredMessage, version: int) -> dict[str, Any]:
    shown = message_as_json(value, version)
    if isinstance(value, group.GroupMetadataValue) and value.protocol_type == CONSUMER_PROTOCOL:
        for member in shown["members"]:
            for name, kind in (("subscription", Subscription), ("assignment", AssignedPartitions)):
                member[name] = _protocol_message(kind, member[name])
    return shown


def _protocol_message(kind: type[VersionedMessage], text: str) -> dict[str, Any] | str:
    """The bytes as a message of the consumer protocol; as they are if they are none."""
    data = base64.b64decode(text)
    version = int.from_bytes(data[:PREFIX_SIZE], "big", signed=True)
    if len(data) < PREFIX_SIZE or not kind.VERSIONS[0] <= version <= kind.VERSIONS[1]:
        return text
    try:
        return message_as_json(decode_message(kind, version, memoryview(data), PREFIX_SIZE), version)
    except ProtocolError:
        return text
