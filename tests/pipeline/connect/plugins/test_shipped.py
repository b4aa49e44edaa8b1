"""Plugins that come with Penstock, under the names that configurations of Kafka Connect have for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.pipeline.connect.plugins import Plugins, UnknownPlugin
from penstock.pipeline.connect.plugins.shipped import shipped_plugins


@pytest.mark.parametrize(
    ("kind", "name", "full"),
    [
        ("source", "FileStreamSource", "org.apache.kafka.connect.file.FileStreamSourceConnector"),
        ("sink", "FileStreamSinkConnector", "org.apache.kafka.connect.file.FileStreamSinkConnector"),
        ("converter", "JsonConverter", "org.apache.kafka.connect.json.JsonConverter"),
        ("converter", "String", "org.apache.kafka.connect.storage.StringConverter"),
        ("header_converter", "StringConverter", "org.apache.kafka.connect.storage.StringConverter"),
        ("header_converter", "Simple", "org.apache.kafka.connect.storage.SimpleHeaderConverter"),
        ("transformation", "RegexRouter", "org.apache.kafka.connect.transforms.RegexRouter"),
        ("transformation", "Cast$Value", "org.apache.kafka.connect.transforms.Cast$Value"),
        (
            "predicate",
            "RecordIsTombstone",
            "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
        ),
    ],
)
def test_names(kind: str, name: str, full: str) -> None:
    plugins = Plugins()
    assert plugins.find(kind, name).name == plugins.find(kind, full).name == full


def test_what_is_near_is_of_the_same_kind() -> None:
    with pytest.raises(UnknownPlugin) as raised:
        Plugins().find_connector("FileStreamSync")
    near = str(raised.value).partition("nearest are: ")[2].split(", ")
    assert near[0] == "FileStreamSink"
    assert "Filter" not in near


def test_each_can_be_loaded_and_made() -> None:
    """A class that stands for several of Confluent's is listed once."""
    listed = Plugins().list()
    assert {info.reference for info in listed} == {reference for _, reference in shipped_plugins()}
    assert {info.name for info in listed} <= {name for name, _ in shipped_plugins()}
    for info in listed:
        assert isinstance(info.cls(), info.cls)


@pytest.mark.processes
def test_a_converter_is_found_without_what_others_need() -> None:
    """Executors look plugins up for every task."""
    program = (
        "import sys; from penstock.pipeline.connect.plugins import Plugins;"
        "Plugins().find('converter', 'StringConverter');"
        "print([name for name in ('pyspark', 'pyarrow', 'duckdb', 'psycopg', 'uvicorn') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"
