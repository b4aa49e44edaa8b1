"""The connector and its tasks. A record is a function of (seed, task, number); the offset counts the records.

The pace holds across ticks: the offset also says when the last record was due, so that an interval longer than a tick
passes all the same. Time that nobody was there for is not made up.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import (
    ConfigDef,
    ConfigType,
    Importance,
    at_least,
    invalid,
    not_empty,
)
from penstock.pipeline.connect.api.connector import Configs, SourceConnector
from penstock.pipeline.connect.api.task import SourceTask
from penstock.pipeline.connect.connectors.datagen.quickstarts import QUICKSTARTS
from penstock.pipeline.connect.connectors.datagen.shapes import Shape, read_shape
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError

TASK, ITERATION, SEED, DUE_MS = "task.id", "current.iteration", "random.seed", "last.due.ms"
AT_ONCE: Final = 1000
WAIT_SECONDS: Final = 0.5
LOOK_SECONDS: Final = 0.02
MOST_LATE_MS: Final = 1000
_SCHEMAS: Final = ("quickstart", "schema.filename", "schema.string")


def _is_quickstart(name: str, value: Any) -> None:
    if value and value.lower() not in QUICKSTARTS:
        raise invalid(name, value, f"String must be one of: {', '.join(QUICKSTARTS)}")


_KEYS: Final = (
    (
        "quickstart",
        ConfigType.STRING,
        "",
        _is_quickstart,
        f"A shape that is there: {', '.join(QUICKSTARTS)}.",
    ),
    ("schema.string", ConfigType.STRING, "", None, "The records' Avro schema, with arg.properties."),
    ("schema.filename", ConfigType.STRING, "", None, "A file with the Avro schema, where the worker runs."),
    ("schema.keyfield", ConfigType.STRING, "", None, "The field that is the record's key."),
    (
        "max.interval",
        ConfigType.LONG,
        500,
        None,
        "Most milliseconds between records, each time a random part of it; 0 for no waiting.",
    ),
    ("iterations", ConfigType.LONG, -1, at_least(-1), "How many records each task makes; -1 for no end."),
    ("generate.timeout", ConfigType.LONG, 60_000, at_least(1), "Most milliseconds that a record may take."),
    ("random.seed", ConfigType.LONG, None, None, "The same seed makes the same records."),
)


def _config_def() -> ConfigDef:
    keys = ConfigDef().define(
        "kafka.topic",
        ConfigType.STRING,
        validator=not_empty,
        importance=Importance.HIGH,
        doc="The topic that the records go to.",
    )
    for name, kind, default, validator, doc in _KEYS:
        keys.define(name, kind, default, validator=validator, doc=doc)
    return keys


CONFIG: Final = _config_def()


class DatagenTask(SourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = CONFIG.parse(configs)
        self._shape = shape_of(self._settings)
        self._key = self._shape.schema.field(key_field(self._settings))
        self._task = int(configs.get(TASK, "0"))
        self._partition = {TASK: self._task}
        known = self.context.offsets.offset(self._partition) or {}
        self._number = int(known.get(ITERATION, 0))
        self._seed = _seed(self._settings, known)
        self._random = Random()
        self._due_ms = self._due_after(float(known[DUE_MS])) if DUE_MS in known else float(_now_ms())

    def poll(self) -> list[SourceRecord] | None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not (records := self._due_records()):
            if time.monotonic() >= deadline or self.context.is_stopping():
                return None
            time.sleep(min(LOOK_SECONDS, max(0.0, self._due_ms - _now_ms()) / 1000 or LOOK_SECONDS))
        return records

    def _due_records(self) -> list[SourceRecord]:
        began = _now_ms()
        records: list[SourceRecord] = []
        while len(records) < AT_ONCE and self._due_ms <= began and not self._is_done():
            records.append(self._next())
        if records and (_now_ms() - began) / len(records) > self._settings["generate.timeout"]:
            raise ConnectError(
                f"generate.timeout: a record took more than {self._settings['generate.timeout']} ms"
            )
        return records

    def _is_done(self) -> bool:
        return bool(0 <= self._settings["iterations"] <= self._number)

    def _next(self) -> SourceRecord:
        due_ms, number = self._due_ms, self._number
        value = record_value(self._shape, self._random, self._seed, self._task, number)
        self._number += 1
        self._due_ms = self._due_after(due_ms)
        key = self._key
        return SourceRecord(
            self._partition,
            {ITERATION: self._number, SEED: self._seed, DUE_MS: int(due_ms)},
            self._settings["kafka.topic"],
            *(value, self._shape.schema),
            key=None if key is None else value.values[key.index],
            key_schema=None if key is None else key.schema,
        )

    def _due_after(self, last_due_ms: float) -> float:
        """Drawn apart from the record's values, so that another pace makes the same records."""
        most: int = self._settings["max.interval"]
        interval_ms = Random(~self._number ^ self._seed).uniform(0, most) if most > 0 else 0.0
        return max(last_due_ms + interval_ms, _now_ms() - MOST_LATE_MS)


def record_value(shape: Shape, random: Random, seed: int, task: int, number: int) -> Any:
    random.seed((((seed & 0xFFFFFFFFFFFFFFFF) << 32 | task) << 64) | number)
    return shape.make(random, number)


def shape_of(settings: Mapping[str, Any]) -> Shape:
    name = settings["quickstart"].lower()
    return read_shape(QUICKSTARTS[name].schema if name else settings["schema.string"])


def key_field(settings: Mapping[str, Any]) -> str:
    quickstart = QUICKSTARTS.get(settings["quickstart"].lower())
    named: str = settings["schema.keyfield"]
    return named or ("" if quickstart is None else quickstart.key_field)


def _seed(settings: Mapping[str, Any], known: Mapping[str, Any]) -> int:
    """A source that was given none keeps the one that it began with."""
    if settings[SEED] is not None:
        return int(settings[SEED])
    return int(known[SEED]) if SEED in known else SystemRandom().getrandbits(31)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class DatagenConnector(SourceConnector):
    """Makes up records: orders, page views, users, prices, or any Avro schema."""

    config_def = CONFIG
    task_class = DatagenTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        configs = _with_schema(self.configs)
        return [{**configs, TASK: str(number)} for number in range(max_tasks)]

    def validate(self, configs: Configs) -> dict[str, list[str]]:
        given = [name for name in _SCHEMAS if configs.get(name)]
        if len(given) != 1:
            what = " and ".join(given) or "none"
            return {
                name: [f"{name}: takes one of {', '.join(_SCHEMAS)}; got {what}"]
                for name in given or _SCHEMAS
            }
        try:
            settings = CONFIG.parse(_with_schema(configs))
            schema = shape_of(settings).schema
        except (ConnectError, ConfigError) as error:
            return {given[0]: [f"{given[0]}: {error}"]}
        wanted = key_field(settings)
        if wanted and schema.field(wanted) is None:
            names = ", ".join(each.name for each in schema.fields)
            return {"schema.keyfield": [f"schema.keyfield: got {wanted!r}; the schema has {names}"]}
        return {}

    def alter_offsets(self, configs: Configs, offsets: Any) -> bool:
        for partition, offset in offsets:
            if not isinstance((partition or {}).get(TASK), int):
                raise ConnectError(f"Partition objects should contain the key '{TASK}', a number")
            number = 0 if offset is None else offset.get(ITERATION)
            if not isinstance(number, int) or number < 0:
                raise ConnectError(
                    f"Offset objects should either be null or contain '{ITERATION}', a number from 0"
                )
        return True


def _with_schema(configs: Configs) -> dict[str, str]:
    """The file's text in place of its name: tasks may run where the file is not."""
    name = configs.get("schema.filename")
    if not name:
        return dict(configs)
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ConnectError(f"{name!r} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return {**configs, "schema.filename": "", "schema.string": text}
