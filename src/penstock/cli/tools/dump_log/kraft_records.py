"""Control records of the metadata log of Apache Kafka's controllers, in Kafka's JSON.

Penstock writes none: they are there for looking into the directories of an Apache Kafka.
"""

import json
from typing import NamedTuple

from penstock.cli.tools.console.stored_json import message_as_json
from penstock.cli.tools.dump_log.errors import DumpError
from penstock.errors import ProtocolError
from penstock.records.reader import Record
from penstock.wire.codec import decode_message
from penstock.wire.schema import Field, Message, VersionedMessage

_BOTH = (0, 1)
_FIRST = (0, 0)


class LeaderChangeVoter(Message):
    __slots__ = ("voter_directory_id", "voter_id")
    SCHEMA = (
        Field("voter_id", "int32", None, _BOTH, None, None, 0),
        Field("voter_directory_id", "uuid", None, (1, 1), None, None, bytes(16)),
    )


class LeaderChange(VersionedMessage):
    __slots__ = ("granting_voters", "leader_id", "version", "voters")
    SCHEMA = (
        Field("version", "int16", None, _BOTH, None, None, 0),
        Field("leader_id", "int32", None, _BOTH, None, None, 0),
        Field("voters", "[]struct", LeaderChangeVoter, _BOTH, None, None, ()),
        Field("granting_voters", "[]struct", LeaderChangeVoter, _BOTH, None, None, ()),
    )
    VERSIONS = _BOTH
    FIRST_FLEXIBLE = 0


class SnapshotHeader(VersionedMessage):
    __slots__ = ("last_contained_log_timestamp", "version")
    SCHEMA = (
        Field("version", "int16", None, _FIRST, None, None, 0),
        Field("last_contained_log_timestamp", "int64", None, _FIRST, None, None, 0),
    )
    VERSIONS = _FIRST
    FIRST_FLEXIBLE = 0


class SnapshotFooter(VersionedMessage):
    __slots__ = ("version",)
    SCHEMA = (Field("version", "int16", None, _FIRST, None, None, 0),)
    VERSIONS = _FIRST
    FIRST_FLEXIBLE = 0


class KraftVersion(VersionedMessage):
    __slots__ = ("k_raft_version", "version")
    SCHEMA = (
        Field("version", "int16", None, _FIRST, None, None, 0),
        Field("k_raft_version", "int16", None, _FIRST, None, None, 0),
    )
    VERSIONS = _FIRST
    FIRST_FLEXIBLE = 0


class VoterEndpoint(Message):
    __slots__ = ("host", "name", "port")
    SCHEMA = (
        Field("name", "string", None, _FIRST, None, None, ""),
        Field("host", "string", None, _FIRST, None, None, ""),
        Field("port", "uint16", None, _FIRST, None, None, 0),
    )


class SupportedVersions(Message):
    __slots__ = ("max_supported_version", "min_supported_version")
    SCHEMA = (
        Field("min_supported_version", "int16", None, _FIRST, None, None, 0),
        Field("max_supported_version", "int16", None, _FIRST, None, None, 0),
    )


class Voter(Message):
    __slots__ = ("endpoints", "k_raft_version_feature", "voter_directory_id", "voter_id")
    SCHEMA = (
        Field("voter_id", "int32", None, _FIRST, None, None, 0),
        Field("voter_directory_id", "uuid", None, _FIRST, None, None, bytes(16)),
        Field("endpoints", "[]struct", VoterEndpoint, _FIRST, None, None, ()),
        Field("k_raft_version_feature", "struct", SupportedVersions, _FIRST, None, None, None),
    )


class Voters(VersionedMessage):
    __slots__ = ("version", "voters")
    SCHEMA = (
        Field("version", "int16", None, _FIRST, None, None, 0),
        Field("voters", "[]struct", Voter, _FIRST, None, None, ()),
    )
    VERSIONS = _FIRST
    FIRST_FLEXIBLE = 0


class KraftType(NamedTuple):
    title: str
    message: type[VersionedMessage]


KRAFT_TYPES = {
    2: KraftType("LeaderChange:", LeaderChange),
    3: KraftType("SnapshotHeader", SnapshotHeader),
    4: KraftType("SnapshotFooter", SnapshotFooter),
    5: KraftType("KRaftVersion", KraftVersion),
    6: KraftType("KRaftVoters", Voters),
}


def kraft_text(kind: KraftType, record: Record) -> str:
    value = record.value or b""
    version = int.from_bytes(value[:2], "big", signed=True)
    if not kind.message.VERSIONS[0] <= version <= kind.message.VERSIONS[1]:
        raise DumpError(f"The control record at offset {record.offset} has the unknown version {version}")
    try:
        message = decode_message(kind.message, version, memoryview(value), 0)
    except ProtocolError as error:
        raise DumpError(f"The control record at offset {record.offset} can't be read: {error}") from None
    shown = json.dumps(message_as_json(message, version), separators=(",", ":"), ensure_ascii=False)
    return f" {kind.title} {shown}"
