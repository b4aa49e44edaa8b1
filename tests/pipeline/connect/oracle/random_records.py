"""Random records in Connect's JSON, and random settings for every transform: right ones, odd ones and wrong ones."""

from __future__ import annotations

import base64
import random
from typing import Any

FIELDS = ("a", "b", "c", "a.b", "when", "inner")
DATE = "org.apache.kafka.connect.data.Date"
TIME = "org.apache.kafka.connect.data.Time"
TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"
DECIMAL = "org.apache.kafka.connect.data.Decimal"
PLAIN = ("int8", "int16", "int32", "int64", "float", "double", "boolean", "string", "bytes")
TEXTS = (
    *("", "x", "7", "-300", "1.5", "true", "NaN", "1e3", "70000", "2020-02-29", "2009-02-13 23:31:30", "ä€"),
    *("20200229", "99999999999999999999", " 12", "+5", "0x1p3", "13/02/09", "Fri, 13 Feb 2009 11:31 PM"),
)
LONGS = (
    0,
    1,
    -1,
    127,
    128,
    1234567890,
    1234567890123,
    -86_400_001,
    1_600_000_000_000_000,
    2**63 - 1,
    -(2**63),
)
FLOATS = (0.0, 1.0, -1.5, 0.1, 123.25, 1e10, -2.5e-7, 3e9, 1e19, 100000.0, 12345678.0)
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


class Records:
    """`names_structs`: some have a name, and all that have one the same."""

    def __init__(self, seed: int, fields: tuple[str, ...] = FIELDS, names_structs: bool = True) -> None:
        self.random = random.Random(seed)
        self.fields = fields
        self.names_structs = names_structs

    def draw(self) -> dict[str, Any]:
        choose = self.random.choice
        is_sink = choose((True, False))
        return {
            "topic": choose(("orders", "orders-7", "a.b", "x$y")),
            "partition": choose((0, 3)) if is_sink else choose((None, 1)),
            "offset": choose((0, 42)) if is_sink else None,
            "timestamp": choose((None, 0, 1234567890123, 951_782_400_000)),
            "key": self.envelope(),
            "value": self.envelope(),
            "headers": [[choose(("h", "g")), self.envelope(1)] for _ in range(choose((0, 1, 2)))],
        }

    def envelope(self, depth: int = 3) -> dict[str, Any] | None:
        kind = self.random.random()
        if kind < 0.05:
            return None
        if kind < 0.4:
            return {"schema": None, "payload": self.schemaless(depth)}
        schema = self.schema(depth, is_struct=kind < 0.85 and depth > 1)
        return {"schema": schema, "payload": self.payload(schema)}

    # --- without a schema

    def schemaless(self, depth: int) -> Any:
        if depth > 1 and self.random.random() < (0.85 if depth == 3 else 0.3):
            return {name: self.schemaless(depth - 1) for name in self.some(self.fields)}
        choices: list[Any] = [None, True, False, self.random.choice(LONGS), self.random.choice(FLOATS)]
        choices += [self.random.choice(TEXTS), self.random.choice(TEXTS), [1, "x"], []]
        return self.random.choice(choices)

    def some(self, names: tuple[str, ...]) -> list[str]:
        return self.random.sample(names, self.random.randint(0, len(names)))

    # --- with one

    def schema(self, depth: int, is_struct: bool = False) -> dict[str, Any]:
        kind = self.random.random()
        if is_struct or (depth > 1 and kind < 0.2):
            made = self.struct(depth)
        elif depth > 1 and kind < 0.3:
            made = {"type": "array", "items": self.schema(depth - 1)}
        elif depth > 1 and kind < 0.36:
            keys = {"type": self.random.choice(("string", "string", "int32")), "optional": False}
            made = {"type": "map", "keys": keys, "values": self.schema(depth - 1)}
        elif kind < 0.6:
            made = self.logical()
        else:
            made = {"type": self.random.choice(PLAIN)}
            if self.random.random() < 0.1:
                made |= {"name": "plain.Name", "version": 2, "doc": "words", "parameters": {"p": "q"}}
        made["optional"] = self.random.random() < 0.4
        if made["type"] in PLAIN and self.random.random() < 0.2:
            made["default"] = self.payload({**made, "optional": False})
        return made

    def struct(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {"type": "struct"}
        made["fields"] = [{**self.schema(depth - 1), "field": name} for name in self.some(self.fields)]
        if self.names_structs and self.random.random() < 0.3:
            made |= {"name": "com.example.Record", "version": 3, "doc": "a record"}
        return made

    def logical(self) -> dict[str, Any]:
        name = self.random.choice((DATE, TIME, TIMESTAMP, DECIMAL))
        type = {DATE: "int32", TIME: "int32", TIMESTAMP: "int64", DECIMAL: "bytes"}[name]
        made: dict[str, Any] = {"type": type, "name": name, "version": 1}
        if name == DECIMAL:
            made["parameters"] = {"scale": "2"}
        return made

    def payload(self, schema: dict[str, Any]) -> Any:
        if schema["optional"] and self.random.random() < 0.25:
            return None
        if schema.get("name") in (DATE, TIME, TIMESTAMP, DECIMAL):
            return self.logical_payload(schema["name"])
        return getattr(self, f"_{schema['type']}", self._number)(schema)

    def logical_payload(self, name: str) -> Any:
        if name == DECIMAL:
            unscaled = self.random.choice((0, 150, -99999, 10**20))
            return base64.b64encode(unscaled.to_bytes(10, "big", signed=True)).decode()
        if name == DATE:
            return self.random.choice((0, 1, 14288, -400, 18321))
        if name == TIME:
            return self.random.choice((0, 1, 84_690_123, 86_399_999))
        return self.random.choice((0, 1, 1234567890123, 951_782_400_000, -1, 86_400_000))

    def _number(self, schema: dict[str, Any]) -> int:
        bits = BITS[schema["type"]]
        low, high = -1 << (bits - 1), (1 << (bits - 1)) - 1
        return self.random.choice([each for each in (*LONGS, low, high) if low <= each <= high])

    def _float(self, schema: dict[str, Any]) -> float:
        return self.random.choice((0.0, 1.5, -0.1, 3e9, 100000.0))

    def _double(self, schema: dict[str, Any]) -> float:
        return self.random.choice(FLOATS)

    def _boolean(self, schema: dict[str, Any]) -> bool:
        return self.random.choice((True, False))

    def _string(self, schema: dict[str, Any]) -> str:
        return self.random.choice(TEXTS)

    def _bytes(self, schema: dict[str, Any]) -> str:
        return self.random.choice(("", "AQID", "/w=="))

    def _array(self, schema: dict[str, Any]) -> list[Any]:
        return [self.payload(schema["items"]) for _ in range(self.random.randint(0, 3))]

    def _map(self, schema: dict[str, Any]) -> Any:
        if schema["keys"]["type"] == "string":
            return {name: self.payload(schema["values"]) for name in self.some(("x", "y"))}
        return [[number, self.payload(schema["values"])] for number in range(self.random.randint(0, 2))]

    def _struct(self, schema: dict[str, Any]) -> dict[str, Any]:
        fields = ((each["field"], self.payload(each)) for each in schema["fields"])
        return {name: value for name, value in fields if value is not None or self.random.random() < 0.5}


PACKAGE = "org.apache.kafka.connect.transforms"
NULLS = ("true", "true", "false", "no")
LISTS = ("a", "b,c", "a,when", "inner", "a.b", "nowhere", "", "a,a", "a,")
FORMATS = (
    *(
        "yyyy-MM-dd",
        "yyyy-MM-dd HH:mm:ss",
        "yyyyMMdd",
        "dd/MM/yy",
        "EEE, d MMM yyyy hh:mm a",
        "yyyy-MM-dd'T'HHX",
    ),
    *("", "bad", "'open", "D", "YYYY-ww-u", "G y MMMM L W F E k K S z Z", "yyyy-DDD", "MMddyyyyHHmmssSSS"),
)
_PARTS = {
    "Cast": {
        "spec": (
            *("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string"),
            *(
                "a:int8",
                "a:string,b:float64",
                "a:int64,c:string",
                "when:int64",
                "a.b:boolean",
                "inner:string",
            ),
            *(
                "b:boolean,c:float32",
                "a:int16,when:string",
                "nowhere:int32",
                "",
                "a:b:c",
                "x:what",
                "int8,a:int8",
            ),
            *("bytes", "a:struct", "STRING", " a : int32 "),
        ),
        "replace.null.with.default": NULLS,
    },
    "ExtractField": {
        "field": (
            "a",
            "b",
            "a.b",
            "inner.a",
            "inner",
            "`a.b`",
            "inner.`a.b`",
            "`a",
            "when",
            "",
            "inner.",
            "`a\\`.b`",
        ),
        "field.syntax.version": ("V1", "V2", "v2", "V2", "V3"),
        "replace.null.with.default": NULLS,
    },
    "Flatten": {"delimiter": ("_", "", "->")},
    "HeaderFrom": {
        "fields": ("a", "b,c", "a,when", "inner,a.b", "", "nowhere"),
        "headers": ("h", "h,i", "one,two", ""),
        "operation": ("move", "copy", "MOVE"),
        "replace.null.with.default": NULLS,
    },
    "HoistField": {"field": ("a", "all", "")},
    "InsertField": {
        "topic.field": ("topic", "topic!", "topic?", "a"),
        "partition.field": ("part", "part!", "a"),
        "offset.field": ("offset", "offset!"),
        "timestamp.field": ("time", "time!"),
        "static.field": ("static", "static!"),
        "static.value": ("words", "7", ""),
        "replace.null.with.default": NULLS,
    },
    "MaskField": {
        "fields": LISTS,
        "replacement": ("***", "7", "1.5", "300", "", "1e30"),
        "replace.null.with.default": NULLS,
    },
    "ReplaceField": {
        "exclude": LISTS,
        "include": LISTS,
        "renames": ("a:z", "b:x,c:y", "a.b:ab", "a", "a:b:c", ":", "a:", ""),
        "replace.null.with.default": NULLS,
    },
    "SetSchemaMetadata": {
        "schema.name": ("new.Name", DATE),
        "schema.version": ("5", "x", "99999999999"),
        "replace.null.with.default": NULLS,
    },
    "TimestampConverter": {
        "field": ("", "a", "when", "b", "nowhere"),
        "target.type": ("string", "unix", "Date", "Time", "Timestamp", "date"),
        "format": FORMATS,
        "unix.precision": ("seconds", "milliseconds", "microseconds", "nanoseconds", "days"),
        "replace.null.with.default": NULLS,
    },
}
SETTINGS: dict[str, dict[str, tuple[str, ...]]] = {
    **{f"{PACKAGE}.{name}${part}": table for name, table in _PARTS.items() for part in ("Key", "Value")},
    f"{PACKAGE}.DropHeaders": {"headers": ("h", "h,g", "none", "", "h,h")},
    f"{PACKAGE}.Filter": {},
    f"{PACKAGE}.InsertHeader": {
        "header": ("h", "new"),
        "value.literal": ("7", "1.5", "words", "[1,2]", '{"a":1}', "null", "2020-02-29", "true", "", "1e40"),
    },
    f"{PACKAGE}.RegexRouter": {
        "regex": (
            "orders.*",
            "(orders)(-.*)?",
            "x\\$(?<last>.)",
            "a|a.b",
            "[",
            "\\p{Alpha}+",
            ".*",
            "\\Qa.b\\E",
        ),
        "replacement": ("$1", "new", "$1$2-x", "${last}", "$9", "\\$1", "$0!", "$", "$12"),
    },
    f"{PACKAGE}.TimestampRouter": {
        "topic.format": ("${topic}-${timestamp}", "${timestamp}", "fixed", "${topic}${topic}$1"),
        "timestamp.format": FORMATS,
    },
    f"{PACKAGE}.ValueToKey": {"fields": LISTS, "replace.null.with.default": NULLS},
}
"""The values that each setting of each transform is tried with."""

OFTEN = {
    *("delimiter", "field", "fields", "spec", "target.type", "regex", "replacement"),
    *("headers", "operation", "header", "value.literal"),
}


def draw_settings(source: random.Random, java_name: str) -> dict[str, str]:
    """Mostly with those that say what to do; `delimiter` too, since names with dots in them meet the default."""
    return {
        name: source.choice(values)
        for name, values in SETTINGS[java_name].items()
        if source.random() < (0.97 if name in OFTEN else 0.4)
    }
