"""Who may do what to a znode: identities, access control lists and how they are checked.

An identity is a scheme with an id. `world:anyone` is everybody; `digest:user:hash` is whoever gave that user's
password with addAuth; `ip:address[/bits]` is whoever connects from there; `auth` stands, in a request only, for
the identities that the caller has proven.
"""

import base64
import hashlib
import ipaddress
from typing import NamedTuple

from penstock.zookeeper.protocol import KeeperCode, KeeperError, Permission


class Identity(NamedTuple):
    scheme: str
    id: str


class Acl(NamedTuple):
    permissions: int
    identity: Identity


AclList = tuple[Acl, ...]

ANYONE = Identity("world", "anyone")
ALL_PERMISSIONS = 31
OPEN_ACL: AclList = (Acl(ALL_PERMISSIONS, ANYONE),)
READ_ONLY_ACL: AclList = (Acl(Permission.READ.value, ANYONE),)


def digest_identity(credentials: str) -> Identity:
    """The identity that `user:password` proves."""
    user = credentials.partition(":")[0]
    hashed = base64.b64encode(hashlib.sha1(credentials.encode()).digest()).decode()
    return Identity("digest", f"{user}:{hashed}")


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_storable(identity: Identity) -> bool:
    match identity.scheme:
        case "world":
            return identity == ANYONE
        case "digest":
            return len(identity.id.split(":")) == 2
        case "ip":
            return _is_network(identity.id)
    return False


def _expand(acl: Acl, caller: frozenset[Identity]) -> list[Acl]:
    if acl.identity.scheme != "auth":
        return [acl] if _is_storable(acl.identity) else []
    return [Acl(acl.permissions, identity) for identity in sorted(caller) if identity.scheme != "ip"]


def resolve_acl(requested: AclList, caller: frozenset[Identity]) -> AclList:
    """The list to store: checked, without duplicates, `auth` replaced by what the caller has proven."""
    if requested is OPEN_ACL:
        return OPEN_ACL
    resolved: dict[Acl, None] = {}
    for acl in requested:
        expanded = _expand(acl, caller)
        if not expanded:
            raise KeeperError(KeeperCode.INVALID_ACL)
        resolved.update(dict.fromkeys(expanded))
    if not resolved:
        raise KeeperError(KeeperCode.INVALID_ACL)
    result = tuple(resolved)
    return OPEN_ACL if result == OPEN_ACL else result


def _matches(wanted: Identity, proven: Identity) -> bool:
    if wanted.scheme != proven.scheme:
        return False
    if wanted.scheme != "ip":
        return wanted.id == proven.id
    try:
        network = ipaddress.ip_network(wanted.id, strict=False)
        return ipaddress.ip_address(proven.id) in network
    except ValueError:
        return False


def is_permitted(acls: AclList, permission: int, caller: frozenset[Identity]) -> bool:
    if acls is OPEN_ACL or not acls:
        return True
    granting = [acl.identity for acl in acls if acl.permissions & permission]
    return any(wanted == ANYONE or any(_matches(wanted, proven) for proven in caller) for wanted in granting)


def check_permission(acls: AclList, permission: int, caller: frozenset[Identity]) -> None:
    if not is_permitted(acls, permission, caller):
        raise KeeperError(KeeperCode.NO_AUTH)


def without_secrets(acls: AclList) -> AclList:
    """The list as shown to a caller who may read the node but not administer it."""
    return tuple(
        Acl(acl.permissions, Identity("digest", acl.identity.id.partition(":")[0] + ":x"))
        if acl.identity.scheme == "digest"
        else acl
        for acl in acls
    )
