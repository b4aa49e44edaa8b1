"""What a schema says, by the types of values that it is about: the form in which schemas are compared.

A schema object with keywords of several kinds is an `allOf` of one node for each kind, a list of types an `anyOf`; so
each node is about one thing. Nodes are the same only if they are the same object, and may lead back to themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


@dataclass(slots=True, eq=False, kw_only=True)
class Node:
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """The schema's id, title, description and default, as far as it has them, and Connect's type."""

    @property
    def has_default(self) -> bool:
        return "default" in self.annotations


@dataclass(slots=True, eq=False, kw_only=True)
class Anything(Node):
    """`{}` or true."""


@dataclass(slots=True, eq=False, kw_only=True)
class Nothing(Node):
    """false."""


@dataclass(slots=True, eq=False, kw_only=True)
class Boolean(Node):
    pass


@dataclass(slots=True, eq=False, kw_only=True)
class Null(Node):
    pass


@dataclass(slots=True, eq=False, kw_only=True)
class Limited(Node):
    limits: dict[str, int | Decimal] = field(default_factory=dict)
    """By keyword: maxLength, minimum and so on."""


@dataclass(slots=True, eq=False, kw_only=True)
class Text(Limited):
    pattern: str | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Number(Limited):
    is_integer: bool = False
    multiple_of: int | Decimal | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Enumeration(Node):
    values: frozenset[str]
    """Their fingerprints."""


@dataclass(slots=True, eq=False, kw_only=True)
class Constant(Node):
    value: str
    """Its fingerprint."""


@dataclass(slots=True, eq=False, kw_only=True)
class Combined(Node):
    criterion: str
    """allOf, anyOf or oneOf."""
    parts: list[Node]


@dataclass(slots=True, eq=False, kw_only=True)
class Not(Node):
    part: Node


@dataclass(slots=True, eq=False, kw_only=True)
class Conditional(Node):
    """if, then, else: that there is one is known, what it says is not compared."""


@dataclass(slots=True, eq=False, kw_only=True)
class Object(Limited):
    properties: dict[str, Node] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    by_pattern: dict[str, Node] = field(default_factory=dict)
    additional: Node | bool = True
    unevaluated: Node | None = None
    needed_names: dict[str, frozenset[str]] = field(default_factory=dict)
    """By the name of the property that needs them (dependencies, dependentRequired)."""
    needed_schemas: dict[str, Node] = field(default_factory=dict)


@dataclass(slots=True, eq=False, kw_only=True)
class Array(Limited):
    items: Node | None = None
    first_items: list[Node] = field(default_factory=list)
    additional: Node | bool = True
    unevaluated: Node | None = None
    is_unique: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class Ref(Node):
    target: Node | None = None
    """None until the whole schema is built."""


_ANYTHING = Anything()


def resolved(node: Node) -> Node:
    """What stands at the end of references; one that leads only to itself says nothing."""
    seen: set[Node] = set()
    while isinstance(node, Ref):
        if node in seen or node.target is None:
            return _ANYTHING
        seen.add(node)
        node = node.target
    return node
