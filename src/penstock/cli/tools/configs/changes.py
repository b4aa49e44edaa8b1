"""The changes that `--add-config`, `--add-config-file` and `--delete-config` ask for."""

from __future__ import annotations

import re
from typing import NamedTuple

from penstock.cli.options.command_line import load_properties
from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.configs.scala_order import in_scala_order

_OUTSIDE_BRACKETS = r"(?=[^\]]*(?:\[|$))"
_NAME = re.compile(r"[$a-zA-Z0-9._-]*")


class Changes(NamedTuple):
    added: dict[str, str]
    deleted: list[str]


def changes_of(options: OptionSet) -> Changes:
    added: dict[str, str] = {}
    if options.has("add-config-file"):
        added |= load_properties(options.value("add-config-file"))
    if options.has("add-config"):
        added |= _pairs(options.value("add-config"))
    names = in_scala_order(in_hash_order(added))
    for name in names:
        if not _NAME.fullmatch(name):
            raise CommandFailure(f"Invalid character found for config key: {name}")
    deleted = options.values("delete-config") if options.has("delete-config") else []
    return Changes({name: added[name] for name in names}, [name.strip() for name in deleted])


def _pairs(text: str) -> dict[str, str]:
    """`k1=v1,k2=[v1,v2]`: brackets group values that contain commas."""
    words = re.split(f",{_OUTSIDE_BRACKETS}", text)
    while len(words) > 1 and not words[-1]:
        words.pop()
    pairs = [re.split(rf"\s*=\s*{_OUTSIDE_BRACKETS}", word) for word in words]
    if not all(len(pair) == 2 for pair in pairs):
        raise CommandFailure(
            'requirement failed: Invalid entity config: all configs to be added must be in the format "key=val" or  '
            '"key=[val1,val2]" to group values which contain commas.'
        )
    return {key.strip(): re.sub(r"[\[\]]", "", value).strip() for key, value in pairs}
