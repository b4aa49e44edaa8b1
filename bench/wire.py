"""Kafka requests straight on a socket: what the benchmark asks without a client library in between."""

from __future__ import annotations

import socket
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

API_VERSIONS = 18
METADATA = 3
CLIENT_ID = b"bench"
TIMEOUT_SECONDS = 120.0


def _request(api_key: int, version: int, body: bytes = b"") -> bytes:
    header = struct.pack(f">hhih{len(CLIENT_ID)}s", api_key, version, 1, len(CLIENT_ID), CLIENT_ID)
    return struct.pack(">i", len(header) + len(body)) + header + body


API_VERSIONS_REQUEST = _request(API_VERSIONS, 0)
METADATA_OF_NO_TOPIC = _request(METADATA, 1, struct.pack(">i", 0))
METADATA_OF_ALL_TOPICS = _request(METADATA, 1, struct.pack(">i", -1))


class Connection:
    """A blocking connection: send a frame, receive the body of the answer."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection((host, port), TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = self._socket.makefile("rb")

    def send(self, request: bytes) -> None:
        self._socket.sendall(request)

    def receive(self) -> bytes:
        """The answer after its correlation id."""
        return self.receive_frame()[4:]

    def receive_frame(self) -> bytes:
        return self._read_exactly(struct.unpack(">i", self._read_exactly(4))[0])

    def ask(self, request: bytes) -> bytes:
        self.send(request)
        return self.receive()

    def exchange(self, request: bytes) -> bytes:
        """The answer with its header."""
        self.send(request)
        return self.receive_frame()

    def close(self) -> None:
        self._reader.close()
        self._socket.close()

    def _read_exactly(self, size: int) -> bytes:
        data = self._reader.read(size)
        if len(data) < size:
            raise ConnectionError("the broker closed the connection")
        return data


@dataclass(frozen=True)
class Metadata:
    """What the benchmark wants to know of a Metadata v1 answer."""

    brokers: int
    partitions: int
    partitions_with_leader: int
    partitions_in_sync: int = 0
    leaders: Counter[int] = field(default_factory=Counter)
    """How many partitions each broker leads."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def number(self, code: str) -> int:
        (value,) = struct.unpack_from(f">{code}", self.data, self.position)
        self.position += struct.calcsize(code)
        return int(value)

    def skip_string(self) -> None:
        size = self.number("h")
        self.position += max(size, 0)

    def int32_array(self) -> tuple[int, ...]:
        return tuple(self.number("i") for _ in range(max(self.number("i"), 0)))


def decode_metadata(answer: bytes) -> Metadata:
    reader = _Reader(answer)
    brokers = reader.number("i")
    for _ in range(brokers):
        _skip_broker(reader)
    reader.number("i")  # controller id
    found = [one for _ in range(reader.number("i")) for one in _partitions_of_topic(reader)]
    leaders = Counter(one.leader for one in found if one.leader >= 0)
    return Metadata(brokers, len(found), leaders.total(), sum(one.is_in_sync for one in found), leaders)


def _skip_broker(reader: _Reader) -> None:
    reader.number("i")  # node id
    reader.skip_string()  # host
    reader.number("i")  # port
    reader.skip_string()  # rack


class _Partition(NamedTuple):
    index: int
    leader: int
    is_in_sync: bool


def _partitions_of_topic(reader: _Reader) -> list[_Partition]:
    reader.number("h")  # error
    reader.skip_string()  # name
    reader.number("b")  # internal?
    return [_partition(reader) for _ in range(reader.number("i"))]


def _partition(reader: _Reader) -> _Partition:
    error = reader.number("h")
    index = reader.number("i")
    leader = reader.number("i")
    replicas, in_sync = reader.int32_array(), reader.int32_array()
    return _Partition(index, -1 if error else leader, set(replicas) == set(in_sync))


def leaders_of(port: int, topic: str) -> dict[int, int]:
    """The leader of each of the topic's partitions."""
    name = topic.encode()
    body = struct.pack(f">ih{len(name)}s", 1, len(name), name)
    connection = Connection(port)
    try:
        reader = _Reader(connection.ask(_request(METADATA, 1, body)))
    finally:
        connection.close()
    for _ in range(reader.number("i")):
        _skip_broker(reader)
    reader.number("i")  # controller id
    return {one.index: one.leader for _ in range(reader.number("i")) for one in _partitions_of_topic(reader)}


def try_metadata(port: int, request: bytes = METADATA_OF_NO_TOPIC) -> Metadata | None:
    """The answer on a new connection, or None while nobody answers."""
    try:
        connection = Connection(port)
    except OSError:
        return None
    try:
        return decode_metadata(connection.ask(request))
    except OSError:
        return None
    finally:
        connection.close()
