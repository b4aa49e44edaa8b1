"""zookeeper.properties: what is taken, what is warned of, what is refused."""

import logging
from pathlib import Path

import pytest

from penstock.cli.tools.zookeeper_server_start import read_config
from penstock.errors import ConfigError
from penstock.zookeeper.config import config_from_properties


def test_a_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "zookeeper.properties"
    file.write_text(
        "# a comment\n"
        "dataDir=/data/snapshots\n"
        "dataLogDir = /data/journal\n"
        "clientPort=12181\n"
        "clientPortAddress=0.0.0.0\n"
        "tickTime=1000\n"
        "maxSessionTimeout=60000\n"
        "maxClientCnxns=0\n"
        "4lw.commands.whitelist=ruok, srvr\n"
        "forceSync=no\n"
        "admin.enableServer=false\n"
    )
    config = read_config(file, {"clientPort": "12182"})
    assert (config.client_port, config.client_port_address) == (12182, "0.0.0.0")
    assert (config.data_dir, config.data_log_dir) == (Path("/data/snapshots"), Path("/data/journal"))
    assert (config.smallest_timeout_ms, config.largest_timeout_ms) == (2000, 60_000)
    assert (config.max_client_cnxns, config.force_sync) == (0, False)
    assert config.allows("ruok")
    assert not config.allows("mntr")


def test_defaults() -> None:
    config = read_config(None, {})
    assert (config.client_port, config.client_port_address) == (2181, "127.0.0.1")
    assert config.data_dir == Path("/tmp/zookeeper")
    assert (config.smallest_timeout_ms, config.largest_timeout_ms) == (4000, 40_000)
    assert config.force_sync


def test_unknown_keys_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        config_from_properties({"clientProt": "2181", "initLimit": "5"})
    assert [record.getMessage() for record in caplog.records] == [
        "clientProt is not a setting of this server and has no effect"
    ]


@pytest.mark.parametrize(
    ("key", "value", "takes"),
    [
        ("clientPort", "soon", "an integer between 0 and 65535"),
        ("clientPort", "65536", "an integer between 0 and 65535"),
        ("tickTime", "0", "an integer between 1"),
        ("minSessionTimeout", "x", "or -1 for the default"),
        ("maxSessionTimeout", "-2", "or -1 for the default"),
        ("maxSessionTimeout", "10", "at most maxSessionTimeout"),
        ("dataDir", "", "the path of a directory"),
        ("forceSync", "perhaps", "yes or no"),
        ("4lw.commands.whitelist", "ruok,stats", "four-letter words"),
        ("clientPortAddress", "a b", "an address"),
        ("server.1", "host:2888:3888", "single node"),
    ],
)
def test_bad_values(key: str, value: str, takes: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        config_from_properties({key: value})
    assert takes in str(refusal.value)
    assert key in str(refusal.value) or key == "maxSessionTimeout"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        read_config(tmp_path / "nowhere.properties", {})
