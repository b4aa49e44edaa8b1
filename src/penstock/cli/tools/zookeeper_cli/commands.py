"""The commands that talk to ZooKeeper: what each takes, and what it does.

A command is its usage, the letters of its options (those in `values` take one), how few words it takes, and a
function. Fewer words, and options that it does not know, are refused before anybody connects.
"""

import base64
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import penstock
from penstock.cli.tool import err
from penstock.cli.tools.zookeeper_cli.errors import ShellError
from penstock.cli.tools.zookeeper_cli.paths import check_path, child_of
from penstock.cli.tools.zookeeper_cli.session import AclEntry, ZooKeeperSession
from penstock.cli.tools.zookeeper_cli.words import Given, parse_words
from penstock.settings.properties import parse_properties

PERMISSIONS = {"r": 1, "w": 2, "c": 4, "d": 8, "a": 16}
PERMISSION_ORDER = "cdrwa"
OPEN_ACL = [AclEntry("world", "anyone", 31)]
ANY_VERSION = -1
DELETE_BATCH = 1000
LARGEST_TTL_MS = (1 << 40) - 1
CONFIG_NODE = "/zookeeper/config"
QUOTA_ROOT = "/zookeeper/quota"

Run = Callable[[ZooKeeperSession, Given], None]


class Command(NamedTuple):
    usage: str
    run: Run
    flags: str = ""
    values: str = ""
    fewest: int = 0
    options_text: str = ""
    """What is said of the options when a word is missing."""
    watch_word: bool = False
    """Whether a second word asks for a watch, as it did long ago."""


def parse(name: str, command: Command, words: list[str]) -> Given:
    given = parse_words(words, command.flags, command.values)
    if len(given.words) < command.fewest:
        raise ShellError(f"{name} {command.usage}{command.options_text}")
    if command.watch_word and len(given.words) > 1:
        err(f"'{name} path [watch]' has been deprecated. Please use '{_with_watch_option(name)}' instead.")
        given.options["w"] = None
    return given


def _with_watch_option(name: str) -> str:
    return "get [-s] [-w] path" if name == "get" else f"{name} [-w] path"


# --- text


def print_stat(stat: Any) -> None:
    print(f"cZxid = {_hexadecimal(stat.czxid)}")
    print(f"ctime = {_date(stat.ctime)}")
    print(f"mZxid = {_hexadecimal(stat.mzxid)}")
    print(f"mtime = {_date(stat.mtime)}")
    print(f"pZxid = {_hexadecimal(stat.pzxid)}")
    print(f"cversion = {stat.cversion}")
    print(f"dataVersion = {stat.version}")
    print(f"aclVersion = {stat.aversion}")
    print(f"ephemeralOwner = {_hexadecimal(stat.ephemeralOwner)}")
    print(f"dataLength = {stat.dataLength}")
    print(f"numChildren = {stat.numChildren}")


def _hexadecimal(number: int) -> str:
    return f"{number & 0xFFFF_FFFF_FFFF_FFFF:#x}"


def _date(milliseconds: int) -> str:
    return time.strftime("%a %b %d %H:%M:%S %Z %Y", time.localtime(milliseconds / 1000))


def _listed(names: list[str]) -> str:
    return f"[{', '.join(names)}]"


def hex_dump(data: bytes) -> str:
    rule = "+--------+-------------------------------------------------+----------------+"
    head = ["         +-------------------------------------------------+"]
    head += ["         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |", rule]
    rows = []
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        shown = "".join(chr(byte) if 0x20 < byte < 0x7F or byte == 0x20 else "." for byte in row)
        rows.append(f"|{start:08x}| {row.hex(' '):<48}|{shown:<16}|")
    return "\n".join([*head, *rows, rule]) if data else ""


# --- reading


def _ls(session: ZooKeeperSession, given: Given) -> None:
    path, watch = check_path(given.words[0]), given.has("w")
    if given.has("R"):
        session.get(path, watch=watch)
        print(path)
        for below in _below(session, path, watch=watch):
            print(below)
        return
    children, stat = session.children(path, watch=watch)
    print(_listed(children))
    if given.has("s"):
        print_stat(stat)


def _below(session: ZooKeeperSession, path: str, *, watch: bool) -> Iterator[str]:
    """All children of a node, then what is below each."""
    try:
        children = [child_of(path, name) for name in session.children(path, watch=watch)[0]]
    except ShellError:
        return  # it has been deleted meanwhile
    yield from children
    for child in children:
        yield from _below(session, child, watch=watch)


def _get(session: ZooKeeperSession, given: Given) -> None:
    data, stat = session.get(check_path(given.words[0]), watch=given.has("w"))
    data = b"null" if data is None else data
    if given.has("x"):
        print(hex_dump(data))
    elif given.has("b"):
        print(base64.b64encode(data).decode())
    else:
        print(data.decode(errors="replace"))
    if given.has("s"):
        print_stat(stat)


def _stat(session: ZooKeeperSession, given: Given) -> None:
    path = check_path(given.words[0])
    stat = session.exists(path, watch=given.has("w"))
    if stat is None:
        raise ShellError(f"Node does not exist: {path}")
    print_stat(stat)


def _get_acl(session: ZooKeeperSession, given: Given) -> None:
    entries, stat = session.acl(check_path(given.words[0]))
    for scheme, name, permissions in entries:
        letters = "".join(letter for letter in PERMISSION_ORDER if permissions & PERMISSIONS[letter])
        print(f"'{scheme},'{name}\n: {letters}")
    if given.has("s"):
        print_stat(stat)


def _get_ephemerals(session: ZooKeeperSession, given: Given) -> None:
    print(_listed(session.ephemerals(check_path(given.words[0]) if given.words else "/")))


def _get_all_children_number(session: ZooKeeperSession, given: Given) -> None:
    print(session.all_children_number(check_path(given.words[0])))


def _who_am_i(session: ZooKeeperSession, given: Given) -> None:
    users = session.who_am_i()
    print("Auth scheme: User")
    for scheme, user in users:
        print(f"{scheme}: {user}")


def _config(session: ZooKeeperSession, given: Given) -> None:
    data, stat = session.get(CONFIG_NODE, watch=given.has("w"))
    text = "null" if data is None else data.decode(errors="replace")
    print(_client_addresses(text) if given.has("c") else text)
    if given.has("s"):
        print_stat(stat)


def _client_addresses(config: str) -> str:
    """The version of an ensemble's configuration, and where clients connect: `server.1=...;host:port`."""
    properties = parse_properties(config, CONFIG_NODE)
    addresses = []
    for name, value in properties.items():
        client = value.partition(";")[2].strip()
        if name.startswith("server."):
            addresses.append(client if ":" in client or not client else f"0.0.0.0:{client}")
    return f"{properties.get('version', '')} {','.join(addresses)}"


def _list_quota(session: ZooKeeperSession, given: Given) -> None:
    path = check_path(given.words[0])
    node = QUOTA_ROOT + path
    err(f"absolute path is {node}/zookeeper_limits")
    if session.exists(f"{node}/zookeeper_limits") is None:
        err(f"quota for {path} does not exist.")
        return
    for what, name in (("quota", "zookeeper_limits"), ("stat", "zookeeper_stats")):
        data, _ = session.get(f"{node}/{name}")
        print(f"Output {what} for {path} {(data or b'').decode(errors='replace')}")


def _version(session: ZooKeeperSession, given: Given) -> None:
    if given.words:
        raise ShellError("version ")
    print(f"ZooKeeper CLI version: penstock {penstock.__version__}")


# --- changing


def _create(session: ZooKeeperSession, given: Given) -> None:
    ephemeral, sequential, container = given.has("e"), given.has("s"), given.has("c")
    if container and (ephemeral or sequential):
        raise ShellError("-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.")
    ttl_ms = _ttl(given)
    path = check_path(given.words[0], sequential=sequential)
    data = given.words[1].encode() if len(given.words) > 1 else None
    acl = parse_acl(given.words[2]) if len(given.words) > 2 else OPEN_ACL
    if not acl:
        err("KeeperErrorCode = InvalidACL")
        raise ShellError("Acl is not valid : null")
    if container:
        made = session.create_container(path, data, acl)
    elif ttl_ms is not None:
        made = session.create_with_ttl(path, data, acl, ttl_ms, sequential=sequential)
    else:
        made = session.create(path, data, acl, ephemeral=ephemeral, sequential=sequential)
    err(f"Created {made}")


def _ttl(given: Given) -> int | None:
    if not given.has("t"):
        return None
    try:
        ttl_ms = int(given.options["t"] or "")
    except ValueError:
        raise ShellError("-t argument must be a long value") from None
    for letter, what in (("e", "Ephemeral"), ("c", "Container")):
        if given.has(letter):
            raise ShellError(f"TTLs cannot be used with {what} znodes")
    if not 0 < ttl_ms <= LARGEST_TTL_MS:
        raise ShellError(f"ttl must be positive and cannot be larger than: {LARGEST_TTL_MS}")
    return ttl_ms


def parse_acl(text: str) -> list[AclEntry]:
    """`scheme:id:perm`, several with commas; what has not that form is said and left out."""
    entries = []
    for part in text.split(","):
        scheme, _, rest = part.partition(":")
        name, colon, letters = rest.rpartition(":")
        if not colon:
            err(f"{part} does not have the form scheme:id:perm")
            continue
        for letter in letters:
            if letter not in PERMISSIONS:
                err(f"Unknown perm type: {letter}")
        entries.append(AclEntry(scheme, name, sum({PERMISSIONS.get(letter, 0) for letter in letters})))
    return entries


def _set(session: ZooKeeperSession, given: Given) -> None:
    path = check_path(given.words[0])
    data = given.words[1].encode()
    if given.has("b"):
        try:
            data = base64.b64decode(data, validate=True)
        except ValueError:
            raise ShellError(f"-b: got {given.words[1]!r}; takes data in base64") from None
    stat = session.set(path, data, _expected_version(given))
    if given.has("s"):
        print_stat(stat)


def _expected_version(given: Given) -> int:
    text = given.options.get("v")
    try:
        return ANY_VERSION if text is None else int(text)
    except ValueError:
        raise ShellError(f"-v: got {text!r}; takes a version, an integer") from None


def _set_acl(session: ZooKeeperSession, given: Given) -> None:
    path, acl, version = check_path(given.words[0]), parse_acl(given.words[1]), _expected_version(given)
    if given.has("R"):
        session.get(path)
        for each in [path, *_below(session, path, watch=False)]:
            session.set_acl(each, acl, version)
        return
    stat = session.set_acl(path, acl, version)
    if given.has("s"):
        print_stat(stat)


def _delete(session: ZooKeeperSession, given: Given) -> None:
    if len(given.words) > 1:
        err("'delete path [version]' has been deprecated. Please use 'delete [-v version] path' instead.")
    session.delete(check_path(given.words[0]), _expected_version(given))


def _delete_all(session: ZooKeeperSession, given: Given) -> None:
    try:
        batch_size = int(given.options.get("b") or DELETE_BATCH)
    except ValueError:
        raise ShellError("-b argument must be an int value") from None
    path = check_path(given.words[0])
    tree, level = [path], [path]
    while level:
        level = [child_of(parent, name) for parent in level for name in session.children(parent)[0]]
        tree += level
    if not session.delete_all(tree[::-1], max(batch_size, 1)):
        err("Failed to delete some node(s) in the subtree!")


def _sync(session: ZooKeeperSession, given: Given) -> None:
    session.sync(check_path(given.words[0]))
    print("Sync is OK")


def _add_auth(session: ZooKeeperSession, given: Given) -> None:
    session.add_auth(given.words[0], given.words[1] if len(given.words) > 1 else "")


def _close(session: ZooKeeperSession, given: Given) -> None:
    session.close()


def _not_here(session: ZooKeeperSession, given: Given) -> None:
    raise ShellError("This shell has no such command; ZooKeeper's own zkCli has")


_GET_OPTIONS = """
 -b   Output data in base64 format
 -s   Print znode stats additionally
 -w   Watch for changes on the znode
 -x   Output data in hexdump format
"""
_SET_OPTIONS = """
 -b         Supply data in base64 format
 -s         Print znode stats additionally
 -v <arg>   Set with an expected version
"""

COMMANDS = {
    "addWatch": Command(
        "[-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is "
        "PERSISTENT_RECURSIVE",
        _not_here,
        values="m",
    ),
    "addauth": Command("scheme auth", _add_auth, fewest=1),
    "close": Command("", _close),
    "config": Command("[-c] [-w] [-s]", _config, "swc"),
    "create": Command("[-s] [-e] [-c] [-t ttl] path [data] [acl]", _create, "esc", "t", 1),
    "delete": Command("[-v version] path", _delete, "", "v", 1),
    "deleteall": Command("path [-b batch size]", _delete_all, "", "b", 1),
    "delquota": Command("[-n|-b|-N|-B] path", _not_here, "nbNB"),
    "get": Command("[-s] [-w] [-b] [-x] path", _get, "swbx", "", 1, _GET_OPTIONS, watch_word=True),
    "getAcl": Command("[-s] path", _get_acl, "s", "", 1),
    "getAllChildrenNumber": Command("path", _get_all_children_number, fewest=1),
    "getEphemerals": Command("path", _get_ephemerals),
    "listquota": Command("path", _list_quota, fewest=1),
    "ls": Command("[-s] [-w] [-R] path", _ls, "?swR", "", 1, watch_word=True),
    "reconfig": Command(
        "[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | "
        "[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]",
        _not_here,
    ),
    "removewatches": Command("path [-c|-d|-a] [-l]", _not_here, "cdpral"),
    "set": Command("path data [-s] [-v version] [-b]", _set, "sb", "v", 2, _SET_OPTIONS),
    "setAcl": Command("[-s] [-v version] [-R] path acl", _set_acl, "sR", "v", 2),
    "setquota": Command("-n|-b|-N|-B val path", _not_here, "", "nbNB"),
    "stat": Command("[-w] path", _stat, "w", "", 1, watch_word=True),
    "sync": Command("path", _sync, fewest=1),
    "version": Command("", _version),
    "whoami": Command("", _who_am_i),
}
