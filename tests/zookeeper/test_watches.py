"""The watch tables by themselves."""

from penstock.zookeeper.acl import OPEN_ACL
from penstock.zookeeper.protocol import EventType
from penstock.zookeeper.tree import NodeEvent
from penstock.zookeeper.watches import WatcherType, Watches, WatchMode

CREATED, DELETED = EventType.NODE_CREATED, EventType.NODE_DELETED
CHANGED, CHILDREN = EventType.NODE_DATA_CHANGED, EventType.NODE_CHILDREN_CHANGED
STANDARD, PERSISTENT, RECURSIVE = WatchMode.STANDARD, WatchMode.PERSISTENT, WatchMode.PERSISTENT_RECURSIVE


def told(watches: Watches[str], kind: EventType, path: str) -> list[tuple[str, EventType, str]]:
    event = NodeEvent(kind, path, OPEN_ACL, OPEN_ACL)
    return [(note.watcher, note.kind, note.path) for note in watches.trigger(event)]


def test_standard_watches_fire_once() -> None:
    watches: Watches[str] = Watches()
    watches.data.add("/a", "x", STANDARD)
    watches.child.add("/a", "x", STANDARD)
    assert told(watches, CHANGED, "/a") == [("x", CHANGED, "/a")]
    assert told(watches, CHANGED, "/a") == []
    assert told(watches, CREATED, "/a/b") == [("x", CHILDREN, "/a")]
    assert told(watches, CREATED, "/a/c") == []
    assert (watches.data.count, watches.child.count) == (0, 0)


def test_a_deletion_is_told_once_to_each_and_to_the_parents_watchers() -> None:
    watches: Watches[str] = Watches()
    watches.data.add("/a/b", "x", STANDARD)
    watches.child.add("/a/b", "x", STANDARD)
    watches.child.add("/a/b", "y", STANDARD)
    watches.child.add("/a", "z", STANDARD)
    expected = [("x", DELETED, "/a/b"), ("y", DELETED, "/a/b"), ("z", CHILDREN, "/a")]
    assert told(watches, DELETED, "/a/b") == expected
    assert not watches.child.by_path
    assert not watches.child.by_watcher


def test_modes_live_side_by_side() -> None:
    watches: Watches[str] = Watches()
    watches.data.add("/a", "x", STANDARD)
    watches.add_persistent("/a", "x", PERSISTENT)
    watches.add_persistent("/a", "x", RECURSIVE)
    assert told(watches, CHANGED, "/a") == [("x", CHANGED, "/a")]
    assert told(watches, CHANGED, "/a") == [("x", CHANGED, "/a")]
    assert told(watches, CREATED, "/a/b") == [("x", CREATED, "/a/b"), ("x", CHILDREN, "/a")]
    assert not watches.contains("/a", "x", WatcherType.DATA)
    assert watches.remove("/a", "x", WatcherType.PERSISTENT)
    assert told(watches, CREATED, "/a/b/c") == [("x", CREATED, "/a/b/c")]
    assert watches.remove("/a", "x", WatcherType.PERSISTENT_RECURSIVE)
    assert not watches.contains("/a", "x", WatcherType.ANY)
    assert told(watches, CREATED, "/a/b/d") == []


def test_a_recursive_watch_on_the_root_sees_all() -> None:
    watches: Watches[str] = Watches()
    watches.add_persistent("/", "x", RECURSIVE)
    assert told(watches, CREATED, "/a/b") == [("x", CREATED, "/a/b")]
    watches.remove_watcher("x")
    watches.remove_watcher("x")
    assert told(watches, CREATED, "/a/c") == []
