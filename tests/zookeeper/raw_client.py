"""A client that speaks the protocol by hand: it pipelines, stays silent, or sends nonsense, as a test wishes."""

import socket
from struct import pack, unpack_from
from typing import NamedTuple

from tests.zookeeper.running import WAIT_SECONDS

OPEN_ACL = pack(">iii", 1, 31, 5) + b"world" + pack(">i", 6) + b"anyone"


class Reply(NamedTuple):
    xid: int
    zxid: int
    error: int
    body: bytes


def text(value: str) -> bytes:
    return pack(">i", len(value.encode())) + value.encode()


def create_body(path: str, data: bytes = b"", flags: int = 0) -> bytes:
    return text(path) + pack(">i", len(data)) + data + OPEN_ACL + pack(">i", flags)


class RawClient:
    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=WAIT_SECONDS)
        self._next_xid = 1
        self.session_id = 0
        self.password = bytes(16)
        self.timeout_ms = 0

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def _receive_exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)

    def receive_frame(self) -> bytes:
        return self._receive_exactly(unpack_from(">i", self._receive_exactly(4))[0])

    def is_closed(self) -> bool:
        """Waits for the server to close the connection; anything else that it sends is an error."""
        try:
            return self._socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def connect(
        self, timeout_ms: int = 10_000, session_id: int = 0, password: bytes = bytes(16), zxid: int = 0
    ) -> "RawClient":
        body = pack(">iqiqi", 0, zxid, timeout_ms, session_id, len(password)) + password + b"\0"
        self.send_bytes(pack(">i", len(body)) + body)
        _, self.timeout_ms, self.session_id, size = unpack_from(">iiqi", response := self.receive_frame())
        self.password = response[20 : 20 + size]
        assert response[20 + size :] == b"\0"
        return self

    def request_frame(self, opcode: int, body: bytes = b"", xid: int | None = None) -> bytes:
        if xid is None:
            xid, self._next_xid = self._next_xid, self._next_xid + 1
        return pack(">iii", 8 + len(body), xid, opcode) + body

    def send(self, opcode: int, body: bytes = b"", xid: int | None = None) -> None:
        self.send_bytes(self.request_frame(opcode, body, xid))

    def receive(self) -> Reply:
        frame = self.receive_frame()
        return Reply(*unpack_from(">iqi", frame), frame[16:])

    def call(self, opcode: int, body: bytes = b"", xid: int | None = None) -> Reply:
        self.send(opcode, body, xid)
        return self.receive()

    def create(self, path: str, data: bytes = b"", flags: int = 0) -> Reply:
        return self.call(1, create_body(path, data, flags))

    def exists(self, path: str, watch: bool = False) -> bool:
        reply = self.call(3, text(path) + bytes([watch]))
        assert reply.error in (0, -101)
        return reply.error == 0
