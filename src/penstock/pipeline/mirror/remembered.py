"""What a task knows may outlive its tick, where Spark uses a process again. It is never needed, only cheaper: whoever
takes it reads on from where it ends, and who finds nothing begins anew. It is taken out, so that it has one owner."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

T = TypeVar("T")

MAX_KEPT: Final = 64
_kept: OrderedDict[tuple[tuple[str, str], ...], Any] = OrderedDict()
_lock = threading.Lock()


def take(configs: Mapping[str, str], make: Callable[[], T]) -> T:
    """What a task with just these settings has left, or a new one."""
    with _lock:
        found: T | None = _kept.pop(_key(configs), None)
    return make() if found is None else found


def leave(configs: Mapping[str, str], what: object) -> None:
    with _lock:
        _kept[_key(configs)] = what
        if len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)


def _key(configs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(configs.items()))
