"""`penstock init` writes the settings that the project ships, and never over those of the user."""

from pathlib import Path

import pytest

from penstock.cli.platform.init import main
from penstock.errors import ConfigError

SHIPPED = Path(__file__).parents[3] / "config"
NAMES = [
    "connect-distributed.properties",
    "connect-mirror-maker.properties",
    "connect-standalone.properties",
    "consumer.properties",
    "kafka-rest.properties",
    "producer.properties",
    "schema-registry.properties",
    "server.properties",
    "zookeeper.properties",
]


def test_the_files_are_those_of_the_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "new")]) == 0
    folder = tmp_path / "new" / "config"
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    assert all((folder / name).read_text() == (SHIPPED / name).read_text() for name in NAMES)
    assert capsys.readouterr().out.splitlines() == [str(folder / name) for name in NAMES]


def test_files_of_the_user_stay(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "server.properties").write_text("broker.id=5\n")
    with pytest.raises(ConfigError, match=r"config/server\.properties: is there already"):
        main([str(tmp_path)])
    assert [path.name for path in (tmp_path / "config").iterdir()] == ["server.properties"]
