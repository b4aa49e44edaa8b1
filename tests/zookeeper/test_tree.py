"""The tree by itself: what each transaction does, and a property test against a plain model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.zookeeper.acl import OPEN_ACL, Acl, Identity
from penstock.zookeeper.decide import Caller, decide_write, is_overdue
from penstock.zookeeper.jute import JuteReader
from penstock.zookeeper.protocol import EventType, KeeperCode, KeeperError, OpCode
from penstock.zookeeper.tree import (
    CONTAINER_OWNER,
    MAX_TTL_MS,
    Staging,
    Tree,
    apply,
    ttl_of,
    ttl_owner,
    wrap_int32,
)
from penstock.zookeeper.txn import (
    CheckTxn,
    CloseSessionTxn,
    CreateSessionTxn,
    CreateTxn,
    DeleteTxn,
    MultiTxn,
    SetAclTxn,
    SetDataTxn,
    Txn,
    TxnRecord,
    decode_record,
    encode_record,
)
from penstock.zookeeper.wire import CheckRequest, CreateRequest, DeleteRequest, SetDataRequest, WriteRequest
from tests.support.examples import examples

NOBODY = Caller(0, frozenset())
FIRST_SESSION, SECOND_SESSION = 17, 18


def create(path: str, data: bytes = b"", flags: int = 0) -> CreateRequest:
    return CreateRequest(OpCode.CREATE, path, data, OPEN_ACL, flags, -1)


class Scene:
    """A tree with the clock of a test."""

    def __init__(self) -> None:
        self.tree = Tree.fresh()
        self.history: list[TxnRecord] = []

    def replay(self, txn: Txn) -> list[tuple[EventType, str]]:
        record = TxnRecord(self.tree.last_zxid + 1, 1000 + self.tree.last_zxid, txn)
        self.history.append(record)
        return [(event.kind, event.path) for event in self.tree.replay(record)]

    def do(self, request: WriteRequest, session_id: int = 0) -> list[tuple[EventType, str]]:
        return self.replay(decide_write(self.tree, request, Caller(session_id, frozenset())))

    def refuse(self, request: WriteRequest) -> KeeperCode:
        with pytest.raises(KeeperError) as refusal:
            self.do(request)
        return refusal.value.code


def test_stat_fields_of_a_life() -> None:
    scene = Scene()
    assert scene.do(create("/a", b"xy")) == [(EventType.NODE_CREATED, "/a")]
    scene.do(create("/a/b"))
    scene.do(create("/a/c"))
    assert scene.do(DeleteRequest("/a/b", -1)) == [(EventType.NODE_DELETED, "/a/b")]
    assert scene.do(SetDataRequest("/a", b"z", 0)) == [(EventType.NODE_DATA_CHANGED, "/a")]
    node = scene.tree.nodes["/a"]
    assert (node.czxid, node.mzxid, node.pzxid) == (1, 5, 4)
    assert (node.ctime, node.mtime) == (1000, 1004)
    assert (node.version, node.cversion, node.aversion, node.num_children) == (1, 3, 0, 1)
    assert scene.tree.children("/a") == ["c"]


def test_the_root_of_a_fresh_tree() -> None:
    tree = Tree.fresh()
    assert tree.nodes["/"].cversion == -1
    assert tree.children("/") == ["zookeeper"]
    assert sorted(tree.children("/zookeeper")) == ["config", "quota"]


def test_sequential_names_are_the_parents_count_of_creations() -> None:
    scene = Scene()
    scene.do(create("/q"))
    scene.do(create("/q/n-", flags=2))
    scene.do(DeleteRequest("/q/n-0000000000", -1))
    scene.do(create("/q/n-", flags=2))
    assert scene.tree.children("/q") == ["n-0000000001"]


def test_a_closed_session_takes_its_ephemerals_along() -> None:
    scene = Scene()
    scene.replay(CreateSessionTxn(FIRST_SESSION, 1000, b"secret"))
    scene.do(create("/e", flags=1), FIRST_SESSION)
    scene.do(create("/f", flags=1), FIRST_SESSION)
    scene.do(create("/g", flags=1), SECOND_SESSION)
    closing = CloseSessionTxn(FIRST_SESSION, scene.tree.ephemerals(FIRST_SESSION))
    assert scene.replay(closing) == [(EventType.NODE_DELETED, "/e"), (EventType.NODE_DELETED, "/f")]
    assert scene.tree.ephemerals_by_session() == {SECOND_SESSION: ["/g"]}
    assert scene.tree.sessions == {}
    assert scene.tree.last_session_id == FIRST_SESSION
    assert scene.tree.nodes["/"].pzxid == scene.tree.last_zxid


def test_refusals() -> None:
    scene = Scene()
    scene.do(create("/a"))
    scene.do(create("/a/e", flags=1), FIRST_SESSION)
    assert scene.refuse(create("/a")) == KeeperCode.NODE_EXISTS
    assert scene.refuse(create("/")) == KeeperCode.NODE_EXISTS
    assert scene.refuse(create("/x/y")) == KeeperCode.NO_NODE
    assert scene.refuse(create("/a/e/f")) == KeeperCode.NO_CHILDREN_FOR_EPHEMERALS
    assert scene.refuse(create("/b", flags=9)) == KeeperCode.BAD_ARGUMENTS
    assert scene.refuse(DeleteRequest("/a", -1)) == KeeperCode.NOT_EMPTY
    assert scene.refuse(DeleteRequest("/b", -1)) == KeeperCode.NO_NODE
    assert scene.refuse(SetDataRequest("/a", b"", 3)) == KeeperCode.BAD_VERSION
    assert scene.refuse(CheckRequest("/a", 1)) == KeeperCode.BAD_VERSION


def test_staging_leaves_its_base_alone() -> None:
    scene = Scene()
    scene.do(create("/a", b"old"))
    before = dict(scene.tree.nodes)
    staging = Staging(scene.tree)
    for request in (create("/a/b"), SetDataRequest("/a", b"new", 0), DeleteRequest("/a/b", 0)):
        apply(staging, decide_write(staging, request, NOBODY), 2, 2000)
    node = staging.get("/a")
    assert node is not None
    assert (node.data, node.creates, node.num_children, node.version) == (b"new", 1, 0, 1)
    assert staging.get("/a/b") is None
    assert scene.tree.nodes == before


def test_versions_wrap_and_skip_minus_one() -> None:
    scene = Scene()
    scene.do(create("/a"))
    scene.tree.put("/a", scene.tree.nodes["/a"]._replace(version=-2))
    scene.do(SetDataRequest("/a", b"", -2))
    assert scene.tree.nodes["/a"].version == 0
    assert wrap_int32(1 << 31) == -(1 << 31)


def test_time_to_live_marks() -> None:
    assert ttl_of(ttl_owner(1)) == 1
    assert ttl_of(ttl_owner(MAX_TTL_MS)) == MAX_TTL_MS
    assert ttl_of(CONTAINER_OWNER) is None
    assert ttl_of(FIRST_SESSION) is None
    scene = Scene()
    scene.replay(CreateTxn("/t", b"", OPEN_ACL, ttl_owner(50)))
    scene.replay(CreateTxn("/c", b"", OPEN_ACL, CONTAINER_OWNER))
    assert scene.tree.self_deleting() == ["/t", "/c"]
    assert not is_overdue(scene.tree.nodes["/t"], 1050)
    assert is_overdue(scene.tree.nodes["/t"], 1051)
    assert not is_overdue(scene.tree.nodes["/c"], 1 << 50)


def test_every_transaction_survives_its_encoding() -> None:
    scene = Scene()
    acl = (Acl(3, Identity("digest", "a:b")), Acl(1, Identity("ip", "10.0.0.0/8")))
    scene.replay(CreateSessionTxn(FIRST_SESSION, 4000, b"p" * 16))
    scene.replay(MultiTxn([CreateTxn("/m", None, acl, 0), CreateTxn("/m/ü", b"\0", OPEN_ACL, FIRST_SESSION)]))
    scene.replay(SetDataTxn("/m", None, 1))
    scene.replay(SetAclTxn("/m", OPEN_ACL, 1))
    scene.replay(CheckTxn("/m"))
    scene.replay(DeleteTxn("/m/ü"))
    scene.replay(CloseSessionTxn(FIRST_SESSION, []))
    for record in scene.history:
        assert decode_record(JuteReader(encode_record(record))) == record


# The model: a dict from path to (data, version, owner), and who ever was a child of whom.

NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/" + "/".join(names))
VERSIONS = st.sampled_from([-1, -1, 0, 1, 2])
STEPS = st.one_of(
    st.tuples(st.just("create"), PATHS, st.sampled_from([0, 1, 2, 3]), st.sampled_from([17, 18])),
    st.tuples(st.just("delete"), PATHS, VERSIONS),
    st.tuples(st.just("set"), PATHS, st.binary(max_size=3), VERSIONS),
    st.tuples(st.just("close"), st.sampled_from([17, 18])),
)


class Model:
    def __init__(self) -> None:
        self.nodes: dict[str, tuple[bytes, int, int]] = {}
        self.creations: dict[str, int] = {}

    def children(self, path: str) -> list[str]:
        return sorted(other for other in self.nodes if other.rpartition("/")[0] == path)

    def create(self, path: str, flags: int, session_id: int) -> bool:
        parent = path.rpartition("/")[0]
        if parent and (parent not in self.nodes or self.nodes[parent][2]):
            return False
        number = self.creations.get(parent, 0)
        path += f"{number:010d}" if flags & 2 else ""
        if path in self.nodes:
            return False
        self.nodes[path] = (b"", 0, session_id if flags & 1 else 0)
        self.creations[parent] = number + 1
        self.creations[path] = 0
        return True

    def delete(self, path: str, version: int) -> bool:
        if path not in self.nodes or self.children(path) or version not in (-1, self.nodes[path][1]):
            return False
        del self.nodes[path]
        return True

    def set(self, path: str, data: bytes, version: int) -> bool:
        if path not in self.nodes or version not in (-1, self.nodes[path][1]):
            return False
        self.nodes[path] = (data, self.nodes[path][1] + 1, self.nodes[path][2])
        return True

    def close(self, session_id: int) -> bool:
        for path in [path for path, (_, _, owner) in self.nodes.items() if owner == session_id]:
            del self.nodes[path]
        return True


def _take(scene: Scene, step: tuple[object, ...]) -> bool:
    try:
        match step:
            case ("create", str(path), int(flags), int(session_id)):
                scene.do(create(path, flags=flags), session_id)
            case ("delete", str(path), int(version)):
                scene.do(DeleteRequest(path, version))
            case ("set", str(path), bytes(data), int(version)):
                scene.do(SetDataRequest(path, data, version))
            case ("close", int(session_id)):
                scene.replay(CloseSessionTxn(session_id, scene.tree.ephemerals(session_id)))
    except KeeperError:
        return False
    return True


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(STEPS, max_size=40))
def test_the_tree_does_what_the_model_does(steps: list[tuple[object, ...]]) -> None:
    scene, model = Scene(), Model()
    for step in steps:
        assert _take(scene, step) == getattr(model, str(step[0]))(*step[1:])
    nodes = {path: node for path, node in scene.tree.nodes.items() if path != "/" and "zookeeper" not in path}
    assert {p: (n.data, n.version, n.ephemeral_owner) for p, n in nodes.items()} == model.nodes
    for path, node in nodes.items():
        assert sorted(f"{path}/{name}" for name in scene.tree.children(path)) == model.children(path)
        assert node.num_children == len(model.children(path))
        assert node.creates == model.creations[path]
    replayed = Tree.fresh()
    for record in scene.history:
        replayed.replay(record)
    assert replayed.nodes == scene.tree.nodes
    assert replayed.ephemerals_by_session() == scene.tree.ephemerals_by_session()
    assert replayed.data_bytes == sum(len(p) + len(n.data or b"") for p, n in replayed.nodes.items())
