"""The data model of Connect: schemas, structs, headers, records.

A value is plain Python. With a schema: bool, int, float, str, bytes, list, dict, `Struct`; and for the logical types
`decimal.Decimal`, `datetime.date`, `datetime.time`, `datetime.datetime` (in UTC). Without a schema (`None`): what JSON
has, where an object is a dict.
"""

from penstock.pipeline.connect.data.columns import SinkColumns, SourceColumns
from penstock.pipeline.connect.data.headers import Header, Headers
from penstock.pipeline.connect.data.records import ConnectRecord, SinkRecord, SourceRecord
from penstock.pipeline.connect.data.schema import Field, Schema, SchemaBuilder, Type
from penstock.pipeline.connect.data.struct import Struct

__all__ = [
    "ConnectRecord",
    "Field",
    "Header",
    "Headers",
    "Schema",
    "SchemaBuilder",
    "SinkColumns",
    "SinkRecord",
    "SourceColumns",
    "SourceRecord",
    "Struct",
    "Type",
]
