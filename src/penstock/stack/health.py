"""Does a service answer? Each kind is asked in its own protocol, in a few bytes."""

import socket
import struct
from collections.abc import Callable

ANSWER_TIMEOUT_S = 1.0
_CORRELATION_ID = 0x50656E73
_API_VERSIONS = 18
_DESCRIBE_LOG_DIRS = 35
_METADATA = 3


def zookeeper_answers(host: str, port: int, timeout: float = ANSWER_TIMEOUT_S) -> bool:
    """The four-letter word `ruok`, which is answered with `imok`."""
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(b"ruok")
            return _receive(connection, 4) == b"imok"
    except OSError:
        return False


def broker_answers(host: str, port: int, timeout: float = ANSWER_TIMEOUT_S) -> bool:
    """An ApiVersions request in version 0: header with correlation id and client id, no body."""
    client_id = b"penstock"
    request = struct.pack(">hhih", _API_VERSIONS, 0, _CORRELATION_ID, len(client_id)) + client_id
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            answer = _receive(connection, 10)
    except OSError:
        return False
    if len(answer) < 10:
        return False
    _, correlation_id, error_code = struct.unpack(">iih", answer)
    return bool(correlation_id == _CORRELATION_ID and error_code == 0)


def count_brokers(host: str, port: int, timeout: float = ANSWER_TIMEOUT_S) -> int:
    """How many a broker knows of: Metadata in version 1, of no topic, whose answer begins with them."""
    client_id = b"penstock"
    request = struct.pack(">hhih", _METADATA, 1, _CORRELATION_ID, len(client_id)) + client_id
    request += struct.pack(">i", 0)
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            _, _, count = struct.unpack(">iii", _receive(connection, 12))
            return int(count)
    except (OSError, struct.error):
        return 0


def broker_complaint(host: str, port: int, timeout: float = ANSWER_TIMEOUT_S) -> str | None:
    """What a broker that answers says is wrong with it: its log directories that are offline.

    DescribeLogDirs in version 1, of no topic: an error code and a path for each directory."""
    client_id = b"penstock"
    request = struct.pack(">hhih", _DESCRIBE_LOG_DIRS, 1, _CORRELATION_ID, len(client_id)) + client_id
    request += struct.pack(">i", 0)
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            (size,) = struct.unpack(">i", _receive(connection, 4))
            answer = _receive(connection, size)
        return _offline_directories(answer)
    except (OSError, struct.error):
        return "does not say how its log directories are"


def _offline_directories(answer: bytes) -> str | None:
    _, _, count = struct.unpack_from(">iii", answer)
    offline, at = [], 12
    for _ in range(count):
        error_code, length = struct.unpack_from(">hh", answer, at)
        path = answer[at + 4 : at + 4 + length].decode(errors="replace")
        at += 4 + length + 4  # no topics
        if error_code:
            offline.append(path)
    return f"offline log directory: {', '.join(offline)}" if offline else None


def registry_answers(host: str, port: int, timeout: float = ANSWER_TIMEOUT_S) -> bool:
    """Its ids, which it tells once it has read its schemas."""
    return _http_answers(host, port, "/v1/metadata/id", timeout)


def rest_answers(host: str, port: int, timeout: float = ANSWER_TIMEOUT_S) -> bool:
    """The Kafka behind it, which it tells once it has reached that."""
    return _http_answers(host, port, "/v3/clusters", timeout)


def connect_answers(host: str, port: int, timeout: float = ANSWER_TIMEOUT_S) -> bool:
    """Its health, which is good once it has read its topics and the workers agree."""
    return _http_answers(host, port, "/health", timeout)


def _http_answers(host: str, port: int, path: str, timeout: float) -> bool:
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(request.encode())
            return _receive(connection, 12) == b"HTTP/1.1 200"
    except OSError:
        return False


def _receive(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            break
        received += chunk
    return received


PROBES: dict[str, Callable[[str, int], bool]] = {
    "zookeeper": zookeeper_answers,
    "broker": broker_answers,
    "registry": registry_answers,
    "rest": rest_answers,
    "connect": connect_answers,
}


def answers(kind: str, host: str, port: int) -> bool:
    return PROBES[kind](host, port)


def complaint(kind: str, host: str, port: int) -> str | None:
    """What is wrong with a service that answers."""
    return broker_complaint(host, port) if kind == "broker" else None
