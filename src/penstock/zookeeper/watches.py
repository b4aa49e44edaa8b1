"""Watches: who wants to hear of a change to which path.

There are two tables, as in ZooKeeper: data watches (set by getData and exists) and child watches (set by
getChildren). A standard watch fires once and is gone. A persistent one, set by addWatch, sits in both tables and
stays; a recursive one sits in the data table, stays, and fires for the whole subtree, but never for
"children changed", since the creation and deletion of the children are told anyway.

Watchers are connections: when one closes, its watches go; the client sets them anew with setWatches.
"""

from collections.abc import Hashable
from enum import IntEnum, IntFlag
from typing import Generic, NamedTuple, TypeVar

from penstock.zookeeper.acl import AclList
from penstock.zookeeper.paths import ancestors_of, parent_of
from penstock.zookeeper.protocol import EventType
from penstock.zookeeper.tree import NodeEvent

Watcher = TypeVar("Watcher", bound=Hashable)


class WatchMode(IntFlag):
    STANDARD = 1
    PERSISTENT = 2
    PERSISTENT_RECURSIVE = 4


class WatcherType(IntEnum):
    """Which watches checkWatches and removeWatches speak of."""

    CHILDREN = 1
    DATA = 2
    ANY = 3
    PERSISTENT = 4
    PERSISTENT_RECURSIVE = 5


ANY_MODE = WatchMode.STANDARD | WatchMode.PERSISTENT | WatchMode.PERSISTENT_RECURSIVE
_NO_MODE = WatchMode(0)
ADD_WATCH_MODES = {0: WatchMode.PERSISTENT, 1: WatchMode.PERSISTENT_RECURSIVE}


class Notification(NamedTuple, Generic[Watcher]):
    watcher: Watcher
    kind: EventType
    path: str
    acl: AclList


class WatchTable(Generic[Watcher]):
    """The watches of one kind."""

    def __init__(self) -> None:
        self.by_path: dict[str, dict[Watcher, WatchMode]] = {}
        self.by_watcher: dict[Watcher, set[str]] = {}
        self._recursive = 0

    @property
    def count(self) -> int:
        return sum(map(len, self.by_watcher.values()))

    def mode(self, path: str, watcher: Watcher) -> WatchMode:
        return self.by_path.get(path, {}).get(watcher, _NO_MODE)

    def add(self, path: str, watcher: Watcher, mode: WatchMode) -> None:
        self._put(path, watcher, self.mode(path, watcher) | mode)

    def remove(self, path: str, watcher: Watcher, mode: WatchMode) -> bool:
        before = self.mode(path, watcher)
        self._put(path, watcher, before & ~mode)
        return bool(before & mode)

    def _put(self, path: str, watcher: Watcher, mode: WatchMode) -> None:
        before = self.mode(path, watcher)
        recursive = WatchMode.PERSISTENT_RECURSIVE
        self._recursive += bool(mode & recursive) - bool(before & recursive)
        if mode:
            self.by_path.setdefault(path, {})[watcher] = mode
            self.by_watcher.setdefault(watcher, set()).add(path)
        elif before:
            self._forget(path, watcher)

    def _forget(self, path: str, watcher: Watcher) -> None:
        watchers, paths = self.by_path[path], self.by_watcher[watcher]
        del watchers[watcher]
        paths.discard(path)
        if not watchers:
            del self.by_path[path]
        if not paths:
            del self.by_watcher[watcher]

    def remove_watcher(self, watcher: Watcher) -> None:
        for path in list(self.by_watcher.get(watcher, ())):
            self._put(path, watcher, _NO_MODE)

    def trigger(self, path: str) -> list[Watcher]:
        """Those to tell of a change at a path; their standard watches on it are used up."""
        found = dict.fromkeys(self.by_path.get(path, ()))
        for watcher in found:
            self.remove(path, watcher, WatchMode.STANDARD)
        if self._recursive:
            for ancestor in ancestors_of(path):
                watchers = self.by_path.get(ancestor, {})
                found.update((w, None) for w, m in watchers.items() if m & WatchMode.PERSISTENT_RECURSIVE)
        return list(found)


class Watches(Generic[Watcher]):
    def __init__(self) -> None:
        self.data: WatchTable[Watcher] = WatchTable()
        self.child: WatchTable[Watcher] = WatchTable()

    def add_persistent(self, path: str, watcher: Watcher, mode: WatchMode) -> None:
        self.data.add(path, watcher, mode)
        if mode is WatchMode.PERSISTENT:
            self.child.add(path, watcher, mode)

    def remove_watcher(self, watcher: Watcher) -> None:
        self.data.remove_watcher(watcher)
        self.child.remove_watcher(watcher)

    def _places(self, watcher_type: WatcherType) -> list[tuple[WatchTable[Watcher], WatchMode]]:
        return {
            WatcherType.CHILDREN: [(self.child, WatchMode.STANDARD)],
            WatcherType.DATA: [(self.data, WatchMode.STANDARD)],
            WatcherType.ANY: [(self.child, ANY_MODE), (self.data, ANY_MODE)],
            WatcherType.PERSISTENT: [
                (self.child, WatchMode.PERSISTENT),
                (self.data, WatchMode.PERSISTENT),
            ],
            WatcherType.PERSISTENT_RECURSIVE: [(self.data, WatchMode.PERSISTENT_RECURSIVE)],
        }[watcher_type]

    def contains(self, path: str, watcher: Watcher, watcher_type: WatcherType) -> bool:
        return any(table.mode(path, watcher) & mode for table, mode in self._places(watcher_type))

    def remove(self, path: str, watcher: Watcher, watcher_type: WatcherType) -> bool:
        removed = [table.remove(path, watcher, mode) for table, mode in self._places(watcher_type)]
        return any(removed)

    def trigger(self, event: NodeEvent) -> list[Notification[Watcher]]:
        """Whom to tell what about an event, in the order in which ZooKeeper tells it."""
        told = dict.fromkeys(self.data.trigger(event.path))
        notifications = [Notification(watcher, event.kind, event.path, event.acl) for watcher in told]
        if event.kind is EventType.NODE_DELETED:
            others = (watcher for watcher in self.child.trigger(event.path) if watcher not in told)
            notifications += [Notification(watcher, event.kind, event.path, event.acl) for watcher in others]
        if event.kind is not EventType.NODE_DATA_CHANGED:
            parent, kind = parent_of(event.path), EventType.NODE_CHILDREN_CHANGED
            watchers = self.child.trigger(parent)
            notifications += [Notification(watcher, kind, parent, event.parent_acl) for watcher in watchers]
        return notifications
