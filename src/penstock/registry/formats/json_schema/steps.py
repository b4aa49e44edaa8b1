"""How the parts of a comparison ask for others.

A comparison yields the pair of nodes that it wants compared and is sent what was found, so that schemas of any depth
(definitions that refer to definitions) need no deep stack, and pairs that were compared before cost nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

from penstock.registry.formats.json_schema.findings import Findings
from penstock.registry.formats.json_schema.model import Node

Pair: TypeAlias = tuple[Node, Node]
"""The writer's and the reader's."""
Answer = TypeVar("Answer")
StepsTo: TypeAlias = Generator[Pair, Findings, Answer]
Steps: TypeAlias = StepsTo[None]


def compare_optional(writer: Node | None, reader: Node | None, found: Findings, at: str) -> Steps:
    if writer is not None and reader is not None:
        found.include((yield writer, reader), at)
    elif reader is not None:
        found.add("SCHEMA_ADDED", at)
    elif writer is not None:
        found.add("SCHEMA_REMOVED", at)
