"""Avro schemas at random: most of them sound, some not, and changes that people make to schemas."""

from __future__ import annotations

import copy
import random
from typing import Any

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
ATTRIBUTES: tuple[dict[str, Any], ...] = (
    {"logicalType": "date"},
    {"b": 1, "a": [2, {"z": 1}]},
    {"logicalType": "decimal", "precision": 4, "scale": 2},
    {"avro.java.string": "String"},
)
NAMES = ("A", "B", "C", "D", "n.A", "m.B", "x.y.C")
SYMBOLS = ("A", "B", "C", "D")


class Schemas:
    """Names are used at most once in a schema: Java lets some be defined twice, and the specification does not."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._taken: set[str] = set()
        self._names: list[str] = []

    def draw(self, depth: int) -> Any:
        self._taken, self._names = set(), []
        return self._type(depth, "")

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _type(self, depth: int, space: str) -> Any:
        kind = self._random.random()
        if depth <= 0 or kind < 0.4:
            return self._leaf()
        if kind < 0.5:
            return {"type": "array", "items": self._type(depth - 1, space)}
        if kind < 0.6:
            return {"type": "map", "values": self._type(depth - 1, space)}
        if kind < 0.72:
            return [self._type(depth - 1, space) for _ in range(self._random.randint(0, 3))]
        return self._named(depth, space)

    def _leaf(self) -> Any:
        if self._names and self._chance(0.25):
            return self._random.choice(self._names)
        primitive = self._random.choice(PRIMITIVES)
        return {"type": primitive, **self._random.choice(ATTRIBUTES)} if self._chance(0.15) else primitive

    def _named(self, depth: int, space: str) -> Any:
        name = self._random.choice(NAMES)
        schema: dict[str, Any] = {
            "type": self._random.choice(("record", "enum", "fixed", "record")),
            "name": name,
        }
        if self._chance(0.3):
            schema["namespace"] = self._random.choice(("", "n", "m", "x.y"))
        own_space = name.rpartition(".")[0] or schema.get("namespace", space)
        full = f"{own_space}.{name.rpartition('.')[2]}".removeprefix(".")
        if full in self._taken:
            return "int"
        self._taken.add(full)
        if self._chance(0.2):
            schema["doc"] = self._random.choice(("", 'a "word", é'))
        if self._chance(0.2):
            schema["aliases"] = self._random.sample(("A", "n.B", "C"), 2)
        self._fill(schema, depth, own_space)
        self._names.append(full)
        return schema

    def _fill(self, schema: dict[str, Any], depth: int, space: str) -> None:
        if schema["type"] == "fixed":
            schema["size"] = self._random.choice((1, 2, 16, 0, -1))
        elif schema["type"] == "enum":
            schema["symbols"] = self._random.sample(SYMBOLS, self._random.randint(0, 4))
            if self._chance(0.3):
                schema["default"] = self._random.choice(SYMBOLS)
        else:
            names = self._random.sample(("a", "b", "c", "d"), self._random.randint(0, 3))
            schema["fields"] = [self._field(name, depth, space) for name in names]

    def _field(self, name: str, depth: int, space: str) -> dict[str, Any]:
        field: dict[str, Any] = {"name": name, "type": self._type(depth - 1, space)}
        if self._chance(0.3):
            field["default"] = self._random.choice((None, 1, "x", True, [], {}, 1.5))
        if self._chance(0.1):
            field["order"] = self._random.choice(("ascending", "descending", "ignore"))
        if self._chance(0.15):
            field["aliases"] = ["z"]
        if self._chance(0.1):
            field["p"] = {"k": 1}
        return field

    def changed(self, schema: Any) -> Any:
        """As the next version of it might be."""
        later = copy.deepcopy(schema)
        self._change(later)
        return later

    def _change(self, schema: Any) -> None:
        parts: list[Any] = []
        if isinstance(schema, dict):
            self._change_named(schema)
            for key in ("type", "items", "values"):
                if schema.get(key) in PRIMITIVES and self._chance(0.2):
                    schema[key] = self._random.choice(PRIMITIVES)
            parts = [schema.get(key) for key in ("type", "items", "values", "fields")]
        elif isinstance(schema, list):
            parts = schema
        for part in parts:
            if isinstance(part, (dict, list)):
                self._change(part)

    def _change_named(self, schema: dict[str, Any]) -> None:
        if "fields" in schema and self._chance(0.5):
            if schema["fields"] and self._chance(0.5):
                schema["fields"].pop()
            else:
                schema["fields"].append({"name": "e", "type": self._random.choice(PRIMITIVES)})
        if schema.get("symbols") and self._chance(0.4):
            schema["symbols"].pop()
        if "size" in schema and self._chance(0.2):
            schema["size"] = 3
