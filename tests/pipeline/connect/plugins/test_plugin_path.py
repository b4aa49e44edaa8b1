"""Classes in files of `plugin.path`, by entry point and by Python path; nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.connector import SourceConnector
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import PluginKind, Plugins, UnknownPlugin, UnknownVersion

SOURCE = """
from penstock.pipeline.connect.api import SourceConnector, SourceTask
from {library} import greeting

class {name}Task(SourceTask):
    pass

class {name}Connector(SourceConnector):
    version = "{version}"
    task_class = {name}Task
    word = greeting
"""


def write_plugin(
    directory: Path, name: str, version: str = "1.0", library: str = "wordlist", word: str = "hello"
) -> None:
    directory.mkdir(exist_ok=True)
    (directory / f"{library}.py").write_text(f"greeting = {word!r}\n")
    (directory / f"{name.lower()}.py").write_text(SOURCE.format(name=name, version=version, library=library))


@pytest.mark.parametrize("name", ["Tide", "TideConnector", "tide.TideConnector", "tide:TideConnector"])
def test_a_file_of_the_plugin_path(tmp_path: Path, name: str) -> None:
    write_plugin(tmp_path / "tides", "Tide")
    found = Plugins(str(tmp_path)).find("source", name)
    assert (found.kind, found.name, found.version) == (PluginKind.SOURCE, "tide.TideConnector", "1.0")
    assert issubclass(found.cls, SourceConnector)
    assert found.cls.word == "hello"


def test_a_package(tmp_path: Path) -> None:
    package = tmp_path / "gauges"
    package.mkdir()
    (package / "words.py").write_text("VERSION = '7'\n")
    (package / "__init__.py").write_text(
        "from penstock.pipeline.connect.api import SinkConnector\n"
        "from .words import VERSION\n"
        "class GaugeSinkConnector(SinkConnector):\n    version = VERSION\n"
    )
    assert Plugins([str(tmp_path)]).find("sink", "GaugeSink").version == "7"


def test_the_newest_version_or_the_one_asked_for(tmp_path: Path) -> None:
    for version in ("1.9", "1.10", "2.0"):
        write_plugin(tmp_path / f"v{version}", "River", version)
    plugins = Plugins(str(tmp_path))
    assert plugins.find("source", "River").version == "2.0"
    assert plugins.find_connector("River", "[1.0,2.0)").version == "1.10"
    assert plugins.find_connector("RiverConnector", "1.9").version == "1.9"
    assert plugins.versions("source", "River") == ["1.9", "1.10", "2.0"]
    with pytest.raises(UnknownVersion, match=r"version range \[3,\), available versions: \[1.9, 1.10, 2.0\]"):
        plugins.find_connector("River", "[3,)")


@pytest.mark.processes
def test_a_class_of_the_plugin_path_is_loaded_by_reference_in_another_process(tmp_path: Path) -> None:
    write_plugin(tmp_path / "brooks", "Brook")
    task = Plugins(str(tmp_path)).find("source", "Brook").cls.task_class
    program = (
        "import sys; from penstock.pipeline.connect.plugins import Plugins;"
        "print(Plugins(sys.argv[1]).load_class(sys.argv[2]).__name__)"
    )
    command = [sys.executable, "-c", program, str(tmp_path), f"{task.__module__}:{task.__qualname__}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "BrookTask\n"


def test_a_module_of_the_plugin_path() -> None:
    name = "tests.pipeline.connect.plugins.some_connectors"
    plugins = Plugins(name)
    for text in (f"{name}:EchoSource", f"{name}.EchoSource", "EchoSource"):
        found = plugins.find("source", text)
        assert (found.name, found.version) == (f"{name}.EchoSource", "3.2.1")
    with pytest.raises(UnknownPlugin, match="implements Connector and which name matches"):
        plugins.find("sink", f"{name}.EchoSource")


@pytest.mark.parametrize("text", ["dredger.DredgerConnector", "dredger:DredgerConnector", "dredger.x"])
def test_a_module_that_nobody_named_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """It is importable, and has such a class; whoever may send a configuration could run it all the same."""
    write_plugin(tmp_path, "Dredger", library="bucket")
    monkeypatch.syspath_prepend(str(tmp_path))
    for kind in PluginKind:
        with pytest.raises(UnknownPlugin, match="Failed to find any class"):
            Plugins().find(kind, text)
    assert {"dredger", "bucket"}.isdisjoint(sys.modules)


def test_ours_are_known_by_their_python_path() -> None:
    converter = "penstock.pipeline.connect.converters.json_converter"
    for text in (f"{converter}.JsonConverter", f"{converter}:JsonConverter"):
        assert Plugins().find("converter", text).name == "org.apache.kafka.connect.json.JsonConverter"


def test_nothing_of_a_file_runs_before_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("class Broken: pass\nraise RuntimeError('no')\n")
    (tmp_path / "nonsense.py").write_text("class :\n")
    write_plugin(tmp_path, "Lake")
    plugins = Plugins(str(tmp_path))
    assert plugins.find("source", "Lake").name == "lake.LakeConnector"
    assert "lake.LakeConnector" in {info.name for info in plugins.list(["source"])}
    with pytest.raises(ConnectError, match=r"broken.py cannot be loaded: RuntimeError: no"):
        plugins.find("source", "Broken")


def test_one_short_name_of_two_classes(tmp_path: Path) -> None:
    write_plugin(tmp_path, "Pond")
    (tmp_path / "other.py").write_text(
        "from penstock.pipeline.connect.api import SourceConnector\nclass PondConnector(SourceConnector): pass\n"
    )
    with pytest.raises(
        ConnectError, match=r"More than one connector matches alias Pond.*other.PondConnector, pond"
    ):
        Plugins(str(tmp_path)).find("source", "Pond")


def test_an_unknown_name_says_what_is_near(tmp_path: Path) -> None:
    write_plugin(tmp_path, "Canal")
    with pytest.raises(UnknownPlugin, match=r"name matches CanalConector, nearest are: .*CanalConnector"):
        Plugins(str(tmp_path)).find_connector("CanalConector")


def test_a_plugin_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"plugin.path: .*nowhere' is no directory"):
        Plugins(str(tmp_path / "nowhere")).find("source", "X")


def test_an_installed_package_offers_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "springs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: springs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[penstock.connect]\nspring = tests.pipeline.connect.plugins.some_connectors:EchoSource\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins = Plugins()
    assert plugins.find("source", "spring").version == "3.2.1"
    assert (
        plugins.find("source", "EchoSource").name
        == "tests.pipeline.connect.plugins.some_connectors.EchoSource"
    )
