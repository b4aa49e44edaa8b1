"""The settings of transforms, predicates and converters are Kafka's: names, types, defaults, importance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.pipeline.connect.api.config_def import ConfigKey
from tests.pipeline.connect.oracle.oracle import CLASSES, Java, class_of
from tests.support.rows import each_row
from tools.suite.processes import starts_processes

OF_KAFKA = [name for name in CLASSES if name.startswith("org.apache.kafka.")]


@pytest.fixture(scope="module")
@starts_processes
def java() -> Iterator[Java]:
    oracle = Java()
    yield oracle
    oracle.close()


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def told(key: ConfigKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "type": key.type.name,
        "importance": key.importance.name,
        "required": key.is_required,
        "default": None if key.is_required else shown(key.default),
    }


@pytest.mark.parametrize("java_name", OF_KAFKA)
def test_the_settings_are_the_same(java: Java, java_name: str) -> None:
    ours = sorted((told(key) for key in class_of(java_name).config_def), key=lambda key: key["name"])
    assert ours == java.ask(op="settings", **{"class": java_name})["keys"]


@each_row("java_name", OF_KAFKA)
def test_every_setting_is_explained(java_name: str) -> None:
    cls = class_of(java_name)
    assert cls.overview
    assert all(key.doc for key in cls.config_def)
