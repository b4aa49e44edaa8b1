"""The numbers of ZooKeeper's client protocol: operations, error codes, events, permissions, create modes."""

from enum import IntEnum, IntFlag
from typing import NamedTuple

from penstock.errors import PenstockError


class OpCode(IntEnum):
    CREATE = 1
    DELETE = 2
    EXISTS = 3
    GET_DATA = 4
    SET_DATA = 5
    GET_ACL = 6
    SET_ACL = 7
    GET_CHILDREN = 8
    SYNC = 9
    PING = 11
    GET_CHILDREN2 = 12
    CHECK = 13
    MULTI = 14
    CREATE2 = 15
    RECONFIG = 16
    CHECK_WATCHES = 17
    REMOVE_WATCHES = 18
    CREATE_CONTAINER = 19
    CREATE_TTL = 21
    MULTI_READ = 22
    AUTH = 100
    SET_WATCHES = 101
    GET_EPHEMERALS = 103
    GET_ALL_CHILDREN_NUMBER = 104
    SET_WATCHES2 = 105
    ADD_WATCH = 106
    WHO_AM_I = 107
    CREATE_SESSION = -10
    CLOSE_SESSION = -11
    ERROR = -1


class KeeperCode(IntEnum):
    OK = 0
    RUNTIME_INCONSISTENCY = -2
    MARSHALLING_ERROR = -5
    UNIMPLEMENTED = -6
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    NO_AUTH = -102
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    INVALID_ACL = -114
    AUTH_FAILED = -115
    NO_WATCHER = -121
    RECONFIG_DISABLED = -123


class KeeperError(PenstockError):
    """A request is refused with one of ZooKeeper's error codes."""

    def __init__(self, code: KeeperCode) -> None:
        super().__init__(code.name)
        self.code = code


class EventType(IntEnum):
    NODE_CREATED = 1
    NODE_DELETED = 2
    NODE_DATA_CHANGED = 3
    NODE_CHILDREN_CHANGED = 4


class Permission(IntFlag):
    READ = 1
    WRITE = 2
    CREATE = 4
    DELETE = 8
    ADMIN = 16


class CreateMode(NamedTuple):
    ephemeral: bool = False
    sequential: bool = False
    container: bool = False
    ttl: bool = False


CREATE_MODES = {
    0: CreateMode(),
    1: CreateMode(ephemeral=True),
    2: CreateMode(sequential=True),
    3: CreateMode(ephemeral=True, sequential=True),
    4: CreateMode(container=True),
    5: CreateMode(ttl=True),
    6: CreateMode(sequential=True, ttl=True),
}

NOTIFICATION_XID = -1
PING_XID = -2
SYNC_CONNECTED = 3
ANY_VERSION = -1
