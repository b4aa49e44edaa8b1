"""The client's side of SASL, as generators: what they yield goes to the broker, what comes back is sent in."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Generator

from penstock.wire_client.errors import AuthenticationError
from penstock.wire_client.security import Security

Conversation = Generator[bytes, bytes, None]
_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


def conversation(security: Security) -> Conversation:
    if security.mechanism == "PLAIN":
        return plain(security.username, security.password)
    return scram(_HASHES[security.mechanism], security.username, security.password, secrets.token_urlsafe(24))


def plain(username: str, password: str) -> Conversation:
    yield f"\0{username}\0{password}".encode()


def scram(hash_name: str, username: str, password: str, nonce: str) -> Conversation:
    """RFC 5802, without channel binding."""
    name = username.replace("=", "=3D").replace(",", "=2C")
    first = f"n={name},r={nonce}"
    challenge = (yield f"n,,{first}".encode()).decode()
    attributes = _attributes(challenge)
    if not attributes["r"].startswith(nonce):
        raise AuthenticationError("the broker answered to another client's SCRAM nonce")
    salted = hashlib.pbkdf2_hmac(
        hash_name, password.encode(), base64.b64decode(attributes["s"]), int(attributes["i"])
    )
    final = f"c=biws,r={attributes['r']}"
    message = f"{first},{challenge},{final}".encode()
    proof = _proof(hash_name, salted, message)
    answer = _attributes((yield f"{final},p={base64.b64encode(proof).decode()}".encode()).decode())
    server_key = hmac.digest(salted, b"Server Key", hash_name)
    expected = base64.b64encode(hmac.digest(server_key, message, hash_name)).decode()
    if not hmac.compare_digest(answer.get("v", ""), expected):
        raise AuthenticationError("the broker could not prove that it knows the password")


def _proof(hash_name: str, salted: bytes, message: bytes) -> bytes:
    client_key = hmac.digest(salted, b"Client Key", hash_name)
    stored_key = hashlib.new(hash_name, client_key).digest()
    signature = hmac.digest(stored_key, message, hash_name)
    return bytes(left ^ right for left, right in zip(client_key, signature, strict=True))


def _attributes(text: str) -> dict[str, str]:
    return {part[:1]: part[2:] for part in text.split(",")}
