"""Who may come in: HTTP's basic authentication, with names and passwords from a file.

The file has lines `name: password[,role...]`, as Jetty's realm files do, which Confluent's services take; `#` begins a
comment. A password with a comma in it, and one that is not to be read by whoever reads the file, is given as
`SHA256:` and the digest of its UTF-8 bytes in hex.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from penstock.errors import ConfigError
from penstock.web.errors import HttpError
from penstock.web.request import Request

ANY_ROLE = "*"
DIGEST_PREFIX = "SHA256:"
_SCHEME = "basic "
KEY = "authentication.users.location"


class User(NamedTuple):
    digest: bytes
    """SHA-256 of the password."""
    roles: frozenset[str]


def read_users(path: str) -> dict[str, User]:
    try:
        lines = Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{KEY}: {path}: {getattr(error, 'strerror', None) or error}") from None
    numbered = ((number, line.strip()) for number, line in enumerate(lines, 1))
    users = dict(_user(path, number, line) for number, line in numbered if line and line[0] != "#")
    if not users:
        raise ConfigError(f"{KEY}: {path} has no users; takes lines of name: password[,role...]")
    return users


def _user(path: str, number: int, line: str) -> tuple[str, User]:
    name, colon, rest = line.partition(":")
    password, *roles = (word.strip() for word in rest.split(","))
    if not colon or not name.strip() or not password:
        raise ConfigError(f"{KEY}: {path}, line {number}: takes name: password[,role...]")
    try:
        digest = _digest(password)
    except ValueError:
        raise ConfigError(
            f"{KEY}: {path}, line {number}: takes 64 digits in hex after {DIGEST_PREFIX}"
        ) from None
    return name.strip(), User(digest, frozenset(roles))


def _digest(password: str) -> bytes:
    if not password.startswith(DIGEST_PREFIX):
        return hashlib.sha256(password.encode()).digest()
    digest = bytes.fromhex(password.removeprefix(DIGEST_PREFIX))
    if len(digest) != hashlib.sha256().digest_size:
        raise ValueError
    return digest


class Authentication:
    """Refuses requests of those whom it does not know (401) and of those without a role that is wanted (403)."""

    def __init__(
        self,
        users: Mapping[str, User],
        realm: str = "",
        roles: frozenset[str] = frozenset((ANY_ROLE,)),
        skipped_paths: tuple[str, ...] = (),
    ) -> None:
        self._users = users
        self._challenge = {"www-authenticate": f'Basic realm="{realm}"'}
        self._roles = roles
        self._exact = {path for path in skipped_paths if not path.endswith("/*")}
        self._below = tuple(path.removesuffix("*") for path in skipped_paths if path.endswith("/*"))

    def check(self, request: Request) -> None:
        if self._is_open(request.scope["path"]):
            return
        user = self._user(request.header(b"authorization"))
        if user is None:
            raise HttpError(401, 401, "Unauthorized", self._challenge)
        if ANY_ROLE not in self._roles and self._roles.isdisjoint(user.roles):
            raise HttpError(403, 403, "Forbidden: the user has none of the roles of authentication.roles")

    def _is_open(self, path: str) -> bool:
        return path in self._exact or path.startswith(self._below)

    def _user(self, header: str) -> User | None:
        if header[: len(_SCHEME)].lower() != _SCHEME:
            return None
        try:
            name, colon, password = base64.b64decode(header[len(_SCHEME) :]).decode().partition(":")
        except ValueError:
            return None
        user = self._users.get(name)
        given = hashlib.sha256(password.encode()).digest()
        return user if user and colon and hmac.compare_digest(user.digest, given) else None
