"""What every HTTP service of ours does with a head or a body that is too large, or does not come."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any, NamedTuple

SECONDS = 30


class Refusal(NamedTuple):
    status: int
    message: str


def refusal(port: int, sent: bytes) -> Refusal:
    """The answer to these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as sending:
        sending.sendall(sent)
        response = http.client.HTTPResponse(sending)
        response.begin()
        said: Any = json.loads(response.read())
        assert said["error_code"] == response.status
    return Refusal(response.status, said["message"])


def check_limits(port: int, path: str, header_bytes: int, body_timeout_ms: int, body_bytes: int) -> None:
    head = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" % path.encode()
    large = refusal(port, head + b"A: " + b"a" * header_bytes)
    assert large == (431, f"The head of the request is too large; takes at most {header_bytes} bytes")
    late = refusal(port, head + b"Content-Length: 9\r\n\r\n{")
    assert late.status == 408, late
    assert f"{body_timeout_ms} ms" in late.message
    announced = refusal(port, head + b"Content-Length: %d\r\n\r\n" % (body_bytes + 1))
    assert announced == (413, f"Request body is too large; takes at most {body_bytes} bytes")
