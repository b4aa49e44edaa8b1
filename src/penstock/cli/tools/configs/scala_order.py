"""The order in which Scala's sets give what is in them: kafka-configs prints groups straight out of one.

Up to four elements come as they were put in. More lie in a tree of 32 branches, by five bits of their hash at each
level from the lowest on; a node gives its own elements first, then those of its branches.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.tools.common.java_order import hash_code

SMALL = 4
BITS = 5
HASH_BITS = 32


def in_scala_order(names: Iterable[str]) -> list[str]:
    distinct = list(dict.fromkeys(names))
    return distinct if len(distinct) <= SMALL else _in_tree_order({name: _hash(name) for name in distinct})


def _in_tree_order(hashes: dict[str, int], shift: int = 0) -> list[str]:
    if shift >= HASH_BITS:
        return list(hashes)
    branches: dict[int, dict[str, int]] = {}
    for name, value in hashes.items():
        branches.setdefault(value >> shift & (1 << BITS) - 1, {})[name] = value
    in_order = [branches[place] for place in sorted(branches)]
    own = [name for branch in in_order if len(branch) == 1 for name in branch]
    deeper = [_in_tree_order(branch, shift + BITS) for branch in in_order if len(branch) > 1]
    return own + [name for names in deeper for name in names]


def _hash(name: str) -> int:
    """Java's hash, stirred."""
    value = hash_code(name)
    value = (value + ~(value << 9)) & 0xFFFFFFFF
    value ^= value >> 14
    value = (value + (value << 4)) & 0xFFFFFFFF
    return value ^ value >> 10
