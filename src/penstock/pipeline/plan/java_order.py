"""The order in which Java's sets give their members, which Kafka Streams' descriptions are printed in."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from penstock.java_hash import java_hash

T = TypeVar("T")

SMALLEST_TABLE = 16
LOAD_FACTOR = 0.75


def hash_set_order(texts: Iterable[str]) -> list[str]:
    """By bucket; within one as they were added. Buckets of so many that they become trees are not thought of."""
    unique = list(dict.fromkeys(texts))
    buckets = SMALLEST_TABLE
    while len(unique) > buckets * LOAD_FACTOR:
        buckets *= 2
    return sorted(unique, key=lambda text: _spread(java_hash(text)) & (buckets - 1))


def _spread(value: int) -> int:
    unsigned = value & 0xFFFFFFFF
    return unsigned ^ unsigned >> 16


class TreeSet(Generic[T]):
    """A red-black tree that keeps its shape when the ranks of its members change, as `java.util.TreeSet` does.

    Where a new member goes depends on the shape as soon as ranks have changed, so it is balanced step by step as there.
    """

    def __init__(self, rank: Callable[[T], Any]) -> None:
        self._rank = rank
        self._root: _Fork[T] | None = None

    def add(self, member: T) -> None:
        parent, fork, is_left = None, self._root, False
        while fork is not None:
            if fork.member is member:
                return
            parent, is_left = fork, self._rank(member) < self._rank(fork.member)
            fork = fork.child(is_left)
        added = _Fork(member, parent)
        if parent is None:
            self._root = added
        else:
            parent.set_child(is_left, added)
        self._balance(added)

    def __iter__(self) -> Iterator[T]:
        return _in_order(self._root)

    def _balance(self, fork: "_Fork[T]") -> None:
        fork.is_red = True
        while fork.parent is not None and fork.parent.is_red:
            parent = fork.parent
            grandparent = parent.parent
            assert grandparent is not None, "the root is black"
            is_left = grandparent.left is parent
            uncle = grandparent.child(not is_left)
            if uncle is not None and uncle.is_red:
                parent.is_red = uncle.is_red = False
                grandparent.is_red, fork = True, grandparent
                continue
            if parent.child(not is_left) is fork:
                self._rotate(parent, is_left)
                fork, parent = parent, fork
            parent.is_red, grandparent.is_red = False, True
            self._rotate(grandparent, not is_left)
        assert self._root is not None
        self._root.is_red = False

    def _rotate(self, fork: "_Fork[T]", to_left: bool) -> None:
        """Its child on the other side takes its place, and it goes down to this side."""
        child = fork.child(not to_left)
        assert child is not None
        fork.set_child(not to_left, child.child(to_left))
        child.parent = fork.parent
        if fork.parent is None:
            self._root = child
        else:
            fork.parent.set_child(fork.parent.left is fork, child)
        child.set_child(to_left, fork)


class _Fork(Generic[T]):
    def __init__(self, member: T, parent: "_Fork[T] | None") -> None:
        self.member, self.parent = member, parent
        self.left: _Fork[T] | None = None
        self.right: _Fork[T] | None = None
        self.is_red = False

    def child(self, is_left: bool) -> "_Fork[T] | None":
        return self.left if is_left else self.right

    def set_child(self, is_left: bool, child: "_Fork[T] | None") -> None:
        if is_left:
            self.left = child
        else:
            self.right = child
        if child is not None:
            child.parent = self


def _in_order(fork: _Fork[T] | None) -> Iterator[T]:
    if fork is not None:
        yield from _in_order(fork.left)
        yield fork.member
        yield from _in_order(fork.right)
