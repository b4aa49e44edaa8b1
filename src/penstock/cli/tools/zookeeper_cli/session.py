"""A session with ZooKeeper, through kazoo: the calls that the shell's commands make.

kazoo brings the session, its reconnects, chroot and the usual requests. Four requests that it lacks are written out
below in the wire format of ZooKeeper. Errors come out in the words of ZooKeeper's own shell.
"""

import logging
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kazoo import exceptions
from kazoo.client import KazooClient, KazooState
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.hosts import collect_hosts
from kazoo.protocol.serialization import int_struct, read_string, write_buffer, write_string
from kazoo.security import ACL, Id

from penstock.cli.tools.zookeeper_cli.errors import ShellError

CONNECT_PROBE_SECONDS = 5.0
CONTAINER_FLAG, TTL_FLAG, SEQUENTIAL_TTL_FLAG = 4, 5, 6

_WORDS_FOR: dict[type[Exception], str] = {
    exceptions.NoNodeError: "Node does not exist: {}",
    exceptions.NoChildrenForEphemeralsError: "Ephemerals cannot have children: {}",
    exceptions.NodeExistsError: "Node already exists: {}",
    exceptions.NotEmptyError: "Node not empty: {}",
    exceptions.NotReadOnlyCallError: "Not a read-only call: {}",
    exceptions.InvalidACLError: "Acl is not valid : {}",
    exceptions.NoAuthError: "Insufficient permission : {}",
    exceptions.BadArgumentsError: "Arguments are not valid : {}",
    exceptions.BadVersionError: "version No is not valid : {}",
    exceptions.ConnectionLoss: "KeeperErrorCode = ConnectionLoss for {}",
    exceptions.ConnectionClosedError: "KeeperErrorCode = ConnectionLoss for {}",
    exceptions.SessionExpiredError: "KeeperErrorCode = Session expired for {}",
    exceptions.AuthFailedError: "KeeperErrorCode = AuthFailed for {}",
    KazooTimeoutError: "KeeperErrorCode = ConnectionLoss for {}",
}
_STATES = {
    KazooState.CONNECTED: "SyncConnected",
    KazooState.SUSPENDED: "Disconnected",
    KazooState.LOST: "Expired",
}
_EVENT_TYPES = {
    "CREATED": "NodeCreated",
    "DELETED": "NodeDeleted",
    "CHANGED": "NodeDataChanged",
    "CHILD": "NodeChildrenChanged",
    "NONE": "None",
}


class AclEntry(NamedTuple):
    scheme: str
    id: str
    permissions: int


class ZooKeeperSession:
    """`on_event` is told of what is watched and of the connection, from another thread: (state, type, path)."""

    def __init__(
        self, hosts: str, timeout_ms: int, read_only: bool, on_event: Callable[[str, str, str | None], None]
    ) -> None:
        self.hosts = hosts
        self._timeout_s = timeout_ms / 1000
        self._on_event = on_event
        self._closed = False
        logging.getLogger("kazoo").setLevel(logging.CRITICAL)
        self._client = KazooClient(hosts, timeout=self._timeout_s, read_only=read_only)
        self._client.add_listener(self._on_state)
        self._connected = threading.Event()
        self._started = False

    # --- the connection

    @property
    def is_alive(self) -> bool:
        return not self._closed

    @property
    def state(self) -> str:
        if self._closed:
            return "CLOSED"
        return "CONNECTED" if self._client.connected else "CONNECTING"

    def connect(self, path: str = "/") -> None:
        """Waits until the session is there; a server that nobody hears at is said at once."""
        if self._client.connected:
            return
        if not any(_answers(host, port) for host, port in self._addresses()):
            raise ShellError(f"KeeperErrorCode = ConnectionLoss for {path}: nobody answers at {self.hosts}")
        if not self._started:
            self._started = True
            self._client.start_async()
        if not self._connected.wait(self._timeout_s):
            raise ShellError(f"KeeperErrorCode = ConnectionLoss for {path}")

    def _addresses(self) -> list[tuple[str, int]]:
        return [(host.strip("[]"), int(port)) for host, port in collect_hosts(self.hosts)[0]]

    def close(self) -> None:
        was_connected = self._client.connected
        self._closed = True
        self._client.stop()
        self._client.close()
        if was_connected:
            self._on_event("Closed", "None", None)

    def end(self) -> None:
        """Close, and say nothing of it."""
        self._on_event = lambda *_: None
        if not self._closed:
            self.close()

    def _on_state(self, state: str) -> None:
        if not self._closed:
            self._on_event(_STATES[state], "None", None)
        if state == KazooState.CONNECTED:
            self._connected.set()
        else:
            self._connected.clear()

    def _watch(self, event: Any) -> None:
        self._on_event("SyncConnected", _EVENT_TYPES.get(event.type, event.type), event.path)

    def _watcher(self, wanted: bool) -> Callable[[Any], None] | None:
        return self._watch if wanted else None

    def _call(self, path: str, start: Callable[[], Any]) -> Any:
        self.connect(path)
        try:
            return start().get(timeout=self._timeout_s)
        except tuple(_WORDS_FOR) as error:
            raise ShellError(_WORDS_FOR[type(error)].format(path)) from None
        except exceptions.ZookeeperError as error:
            name = type(error).__name__.removesuffix("Error")
            raise ShellError(f"KeeperErrorCode = {name} for {path}") from None

    # --- reading

    def get(self, path: str, *, watch: bool = False) -> tuple[bytes | None, Any]:
        found: tuple[bytes | None, Any] = self._call(
            path, lambda: self._client.get_async(path, self._watcher(watch))
        )
        return found

    def exists(self, path: str, *, watch: bool = False) -> Any:
        return self._call(path, lambda: self._client.exists_async(path, self._watcher(watch)))

    def children(self, path: str, *, watch: bool = False) -> tuple[list[str], Any]:
        found = self._call(
            path, lambda: self._client.get_children_async(path, self._watcher(watch), include_data=True)
        )
        return sorted(found[0]), found[1]

    def acl(self, path: str) -> tuple[list[AclEntry], Any]:
        entries, stat = self._call(path, lambda: self._client.get_acls_async(path))
        return [AclEntry(entry.id.scheme, entry.id.id, entry.perms) for entry in entries], stat

    def ephemerals(self, prefix: str) -> list[str]:
        found: list[str] = self._ask(prefix, _GetEphemerals(self._client.chroot + prefix))
        return [path.removeprefix(self._client.chroot) for path in found]

    def all_children_number(self, path: str) -> int:
        return int(self._ask(path, _GetAllChildrenNumber(_prefixed(self._client.chroot, path))))

    def who_am_i(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = self._ask("null", _WhoAmI())
        return found

    # --- changing

    def create(
        self, path: str, data: bytes | None, acl: Sequence[AclEntry], *, ephemeral: bool, sequential: bool
    ) -> str:
        def start() -> Any:
            return self._client.create_async(
                path, data, [_kazoo_acl(entry) for entry in acl], ephemeral=ephemeral, sequence=sequential
            )

        return str(self._call(path, start))

    def create_container(self, path: str, data: bytes | None, acl: Sequence[AclEntry]) -> str:
        return self._create_by(path, _CreateContainer(path, data, acl, CONTAINER_FLAG, None))

    def create_with_ttl(
        self, path: str, data: bytes | None, acl: Sequence[AclEntry], ttl_ms: int, *, sequential: bool
    ) -> str:
        flag = SEQUENTIAL_TTL_FLAG if sequential else TTL_FLAG
        return self._create_by(path, _CreateTtl(path, data, acl, flag, ttl_ms))

    def _create_by(self, path: str, request: "_Create") -> str:
        request.path = _prefixed(self._client.chroot, path)
        made: str = self._ask(path, request)
        return made.removeprefix(self._client.chroot)

    def set(self, path: str, data: bytes, version: int) -> Any:
        return self._call(path, lambda: self._client.set_async(path, data, version))

    def set_acl(self, path: str, acl: Sequence[AclEntry], version: int) -> Any:
        entries = [_kazoo_acl(entry) for entry in acl]
        return self._call(path, lambda: self._client.set_acls_async(path, entries, version))

    def delete(self, path: str, version: int) -> None:
        self._call(path, lambda: self._client.delete_async(path, version))

    def delete_all(self, paths: Sequence[str], batch_size: int) -> bool:
        """Deletes in transactions of so many; False if one of them failed, and was taken back as a whole."""
        self.connect(paths[0])
        succeeded = True
        for start in range(0, len(paths), batch_size):
            transaction = self._client.transaction()
            for path in paths[start : start + batch_size]:
                transaction.delete(path)
            results = transaction.commit_async().get(timeout=self._timeout_s)
            succeeded &= not any(isinstance(result, Exception) for result in results)
        return succeeded

    def sync(self, path: str) -> None:
        self._call(path, lambda: self._client.sync_async(path))

    def add_auth(self, scheme: str, credential: str) -> None:
        self._call("null", lambda: self._client.add_auth_async(scheme, credential))

    def _ask(self, path: str, request: Any) -> Any:
        def start() -> Any:
            answer = self._client.handler.async_result()
            self._client._call(request, answer)
            return answer

        return self._call(path, start)


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), CONNECT_PROBE_SECONDS).close()
    except OSError:
        return False
    return True


def _prefixed(chroot: str, path: str) -> str:
    return chroot + path if chroot and path != "/" else chroot or path


def _kazoo_acl(entry: AclEntry) -> ACL:
    return ACL(entry.permissions, Id(entry.scheme, entry.id))


# --- requests that kazoo lacks


class _Create:
    type = 0

    def __init__(
        self, path: str, data: bytes | None, acl: Sequence[AclEntry], flags: int, ttl_ms: int | None
    ) -> None:
        self.path, self._data, self._acl, self._flags, self._ttl_ms = path, data, acl, flags, ttl_ms

    def serialize(self) -> bytes:
        out = bytearray(write_string(self.path) + write_buffer(self._data) + int_struct.pack(len(self._acl)))
        for scheme, name, permissions in self._acl:
            out += int_struct.pack(permissions) + write_string(scheme) + write_string(name)
        out += int_struct.pack(self._flags)
        return bytes(out if self._ttl_ms is None else out + self._ttl_ms.to_bytes(8, "big", signed=True))

    @classmethod
    def deserialize(cls, data: bytes, offset: int) -> str:
        return str(read_string(data, offset)[0])


class _CreateContainer(_Create):
    type = 19


class _CreateTtl(_Create):
    type = 21


class _GetEphemerals:
    type = 103

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def serialize(self) -> bytes:
        return bytes(write_string(self._prefix))

    @classmethod
    def deserialize(cls, data: bytes, offset: int) -> list[str]:
        (count,) = int_struct.unpack_from(data, offset)
        offset += int_struct.size
        paths = []
        for _ in range(count):
            path, offset = read_string(data, offset)
            paths.append(path)
        return paths


class _GetAllChildrenNumber:
    type = 104

    def __init__(self, path: str) -> None:
        self._path = path

    def serialize(self) -> bytes:
        return bytes(write_string(self._path))

    @classmethod
    def deserialize(cls, data: bytes, offset: int) -> int:
        return int(int_struct.unpack_from(data, offset)[0])


class _WhoAmI:
    type = 107

    def serialize(self) -> bytes:
        return b""

    @classmethod
    def deserialize(cls, data: bytes, offset: int) -> list[tuple[str, str]]:
        (count,) = int_struct.unpack_from(data, offset)
        offset += int_struct.size
        found = []
        for _ in range(count):
            scheme, offset = read_string(data, offset)
            user, offset = read_string(data, offset)
            found.append((scheme, user))
        return found
