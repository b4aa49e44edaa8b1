"""Values as both ways of writing get them: as records, and as columns that say which records were asked for."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from penstock.pipeline.connect.data import Schema, SchemaBuilder, SinkRecord, Struct, Type
from penstock.pipeline.connect.data.columns import SinkColumns
from penstock.pipeline.connect.data.logical import DATE, DECIMAL_NAME, TIME, TIMESTAMP
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
)

ARROW_TYPES = {
    DATE.name: pa.date32(),
    TIME.name: pa.time32("ms"),
    TIMESTAMP.name: pa.timestamp("ms", "UTC"),
    DECIMAL_NAME: pa.decimal128(38, 2),
    Type.INT8: pa.int8(),
    Type.INT16: pa.int16(),
    Type.INT32: pa.int32(),
    Type.INT64: pa.int64(),
    Type.FLOAT32: pa.float32(),
    Type.FLOAT64: pa.float64(),
    Type.BOOLEAN: pa.bool_(),
    Type.STRING: pa.string(),
    Type.BYTES: pa.binary(),
    Type.ARRAY: pa.list_(pa.int64()),
}
AWKWARD_TEXTS = [
    *(
        "",
        " ",
        "a",
        "NULL",
        "\\N",
        "\\.",
        "\\",
        '"',
        '""',
        "'",
        ",",
        "a,b",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\n\\.\n",
    ),
    *("tab\tand\nline\r\nand \\t \\\\ back", 'say "so", and\n"so"', "é", "日本", "🙂", "\u2028", "x" * 5000),
]
SAMPLES: dict[Schema, list[Any]] = {
    BOOLEAN: [True, False],
    INT8: [-128, 127, 0],
    INT16: [-(2**15), 2**15 - 1, 0],
    INT32: [-(2**31), 2**31 - 1, 0],
    INT64: [-(2**63), 2**63 - 1, 0],
    FLOAT32: [0.5, 1.0, -0.0, 2.0**-149, 3.4028234663852886e38, 0.10000000149011612, math.inf, math.nan],
    FLOAT64: [
        0.1,
        1.0,
        -0.0,
        5e-324,
        1.7976931348623157e308,
        1e22,
        2 / 3,
        123456789.123,
        -math.inf,
        math.nan,
    ],
    STRING: AWKWARD_TEXTS,
    DATE: [dt.date(1970, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2024, 2, 29)],
    TIME: [dt.time(0), dt.time(23, 59, 59, 999000), dt.time(12, 30, 0, 50000)],
    TIMESTAMP: [
        dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=dt.UTC),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=dt.UTC),
        dt.datetime(2024, 2, 29, 12, 30, 15, 250000, tzinfo=dt.UTC),
    ],
}


class Columns(SinkColumns):
    """`made` are the indices of the records that were asked for."""

    def __init__(self, schema: Schema, values: Sequence[Sequence[Any]], first: int = 0) -> None:
        self.made: list[int] = []
        self._values = [list(each) for each in values]
        arrays = [
            pa.array([row[number] for row in values], ARROW_TYPES[each.schema.name or each.schema.type])
            for number, each in enumerate(schema.fields)
        ]
        table = pa.table(arrays, [each.name for each in schema.fields])
        partitions = [number % 3 for number in range(len(values))]
        offsets = [first + number for number in range(len(values))]
        super().__init__("orders", partitions, offsets, schema, table, self._make)

    def _make(self, index: int) -> SinkRecord:
        self.made.append(index)
        value = Struct.of(self.schema, self._values[index])
        return SinkRecord(self.topic, self.partitions[index], self.offsets[index], value, self.schema)

    @property
    def stayed_columns(self) -> bool:
        """Records were made for a layout and for the text of errors, at most."""
        return set(self.made) <= {0, len(self) - 1}


def struct_of(**fields: Schema) -> Schema:
    builder = SchemaBuilder.struct()
    for name, schema in fields.items():
        builder.field(name, schema)
    return builder.build()


def random_schema(random: random.Random) -> Schema:
    """Always with a number and a text that may be keys; of the rest, some may be null."""
    fields = {"id": INT64, "part": random.choice([STRING, DATE, TIMESTAMP, BOOLEAN, INT16])}
    for number in range(random.randint(1, 8)):
        kind = random.choice(list(SAMPLES))
        fields[f"field {number}"] = random.choice([kind, kind.as_optional()])
    return struct_of(**fields)


def random_values(random: random.Random, schema: Schema, count: int) -> list[list[Any]]:
    return [
        [
            random.randint(1, 1 + count // 2),
            *(_random_value(random, each.schema) for each in schema.fields[1:]),
        ]
        for _ in range(count)
    ]


def _random_value(random: random.Random, schema: Schema) -> Any:
    if schema.optional and random.random() < 0.3:
        return None
    samples = next(each for kind, each in SAMPLES.items() if kind.as_optional() == schema.as_optional())
    return random.choice(samples)


def decimals(*texts: str) -> list[list[Any]]:
    return [[number, Decimal(each)] for number, each in enumerate(texts)]
