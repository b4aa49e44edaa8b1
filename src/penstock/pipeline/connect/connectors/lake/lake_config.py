"""The keys of the sink and the source."""

from __future__ import annotations

from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import (
    ConfigDef,
    ConfigType,
    Importance,
    at_least,
    invalid,
    one_of,
)
from penstock.pipeline.connect.connectors.lake.formats import DELTA, FORMATS, format_named, is_delta
from penstock.pipeline.connect.connectors.lake.partitioners import EXTRACTORS, PARTITIONERS, named

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW


def _is_file_format(name: str, value: Any) -> None:
    if format_named(value) is None:
        raise invalid(name, value, f"takes {', '.join(FORMATS)}, or Confluent's class of it")


def _is_format(name: str, value: Any) -> None:
    if format_named(value) is None and not is_delta(value):
        raise invalid(name, value, f"takes {', '.join((*FORMATS, DELTA))}, or Confluent's class of it")


def _is_partitioner(name: str, value: Any) -> None:
    if named(PARTITIONERS, value) is None:
        raise invalid(name, value, f"takes {', '.join(PARTITIONERS)}")


def _is_extractor(name: str, value: Any) -> None:
    if named(EXTRACTORS, value) is None:
        raise invalid(name, value, f"takes {', '.join(EXTRACTORS)}")


PLACE_KEYS: Final = (
    ConfigDef()
    .define(
        "store.path",
        ConfigType.STRING,
        "",
        importance=HIGH,
        doc="A folder, s3://bucket/..., or hdfs://....",
    )
    .define(
        "s3.bucket.name",
        ConfigType.STRING,
        "",
        importance=HIGH,
        doc="The bucket, in place of store.path.",
    )
    .define("s3.region", ConfigType.STRING, "us-east-1", importance=MEDIUM, doc="The region of S3.")
    .define("store.url", ConfigType.STRING, "", importance=LOW, doc="Where S3 is, if it is not Amazon's.")
    .define("aws.access.key.id", ConfigType.STRING, "", importance=HIGH, doc="The key's name for S3.")
    .define("aws.secret.access.key", ConfigType.PASSWORD, None, importance=HIGH, doc="The key for S3.")
    .define(
        "topics.dir",
        ConfigType.STRING,
        "topics",
        importance=HIGH,
        doc="The folder in it, with one for each topic.",
    )
)


SINK_KEYS: Final = PLACE_KEYS.including(
    ConfigDef()
    .define(
        "format.class",
        ConfigType.STRING,
        "parquet",
        importance=HIGH,
        validator=_is_format,
        doc="parquet, json, csv or delta; or a class's name, as Confluent has them.",
    )
    .define(
        "flush.size",
        ConfigType.INT,
        100_000,
        importance=HIGH,
        validator=at_least(1),
        doc="How many records of a partition make a file, at most.",
    )
    .define(
        "rotate.interval.ms",
        ConfigType.LONG,
        10_000,
        importance=HIGH,
        validator=at_least(0),
        doc="How old, by its timestamp, the first record of a file gets before the file is closed.",
    )
    .define(
        "parquet.codec",
        ConfigType.STRING,
        "snappy",
        importance=LOW,
        validator=one_of("none", "snappy", "gzip", "zstd", "lz4", "brotli"),
        doc="How Parquet is compressed.",
    )
    .define(
        "partitioner.class",
        ConfigType.STRING,
        "DefaultPartitioner",
        importance=HIGH,
        validator=_is_partitioner,
        doc="The folders below a topic's: by Kafka's partition, by fields, by time (hourly, daily, or any).",
    )
    .define(
        "partition.field.name",
        ConfigType.LIST,
        "",
        importance=MEDIUM,
        doc="The fields of the FieldPartitioner.",
    )
    .define(
        "path.format",
        ConfigType.STRING,
        "'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH",
        importance=MEDIUM,
        doc="The folders of the TimeBasedPartitioner.",
    )
    .define("timezone", ConfigType.STRING, "UTC", importance=MEDIUM, doc="The zone of these times.")
    .define(
        "timestamp.extractor",
        ConfigType.STRING,
        "Record",
        importance=MEDIUM,
        validator=_is_extractor,
        doc="Whose time it is: Record's, Wallclock, or that of a RecordField.",
    )
    .define(
        "timestamp.field",
        ConfigType.STRING,
        "timestamp",
        importance=MEDIUM,
        doc="The field of RecordField.",
    )
    .define(
        "behavior.on.null.values",
        ConfigType.STRING,
        "fail",
        importance=LOW,
        validator=one_of("fail", "ignore"),
        doc="What becomes of tombstones.",
    )
    .define(
        "retry.backoff.ms",
        ConfigType.LONG,
        1000,
        importance=LOW,
        validator=at_least(0),
        doc="How long to wait when the store cannot be written.",
    )
)


SOURCE_KEYS: Final = PLACE_KEYS.including(
    ConfigDef()
    .define(
        "format.class",
        ConfigType.STRING,
        "parquet",
        importance=HIGH,
        validator=_is_file_format,
        doc="parquet, json or csv; or the name of Confluent's class.",
    )
    .define(
        "topic",
        ConfigType.STRING,
        "",
        importance=HIGH,
        doc="The topic; empty for each folder's own name.",
    )
    .define(
        "batch.max.rows",
        ConfigType.INT,
        1000,
        importance=LOW,
        validator=at_least(1),
        doc="Rows to hand on at once.",
    )
    .define(
        "poll.interval.ms",
        ConfigType.LONG,
        5000,
        importance=MEDIUM,
        validator=at_least(0),
        doc="How often to look for new files.",
    )
)


def require_place(settings: dict[str, Any]) -> None:
    if not settings["store.path"] and not settings["s3.bucket.name"]:
        raise ConfigError(
            "store.path: is empty; takes a folder, s3://bucket/... or hdfs://... (or set s3.bucket.name)"
        )
