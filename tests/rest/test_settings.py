"""`kafka-rest-start` as a process, and its settings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.rest.settings import RestSettings, unknown_names
from penstock.settings.properties import read_properties
from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy, running
from tests.support.processes import Process
from tests.web.limits import check_limits

COMMAND = [sys.executable, "-m", "penstock.cli.tools.kafka_rest_start"]
SHIPPED = Path(__file__).parents[2] / "config" / "kafka-rest.properties"


@pytest.mark.processes
def test_it_serves_until_it_is_told_to_stop(tmp_path: Path, broker: InProcessBroker) -> None:
    properties = tmp_path / "kafka-rest.properties"
    properties.write_text(f"listeners=http://127.0.0.1:0\nbootstrap.servers={broker.bootstrap_servers}\n")
    log = tmp_path / "rest.log"
    with Process([*COMMAND, properties], log) as process:
        process.wait_until(lambda: "is ready on" in log.read_text(), 60, "the proxy to be ready")
        found = re.search(r"REST proxy is ready on http://127\.0\.0\.1:(\d+)", log.read_text())
        assert found
        proxy = Proxy(int(found[1]))
        body = {"value": {"type": "STRING", "data": "x"}}
        assert proxy.ask("POST", f"{proxy.cluster}/topics/started/records", body).json["error_code"] == 200


@pytest.mark.processes
@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ([], "bootstrap.servers: missing; give it as host:port[,host:port...]"),
        (["bootstrap.servers=nowhere"], "bootstrap.servers: got 'nowhere', takes host:port[,host:port...]"),
        (
            ["bootstrap.servers=localhost:9092", "listeners=localhost:8082"],
            "listeners: got 'localhost:8082', takes http://host:port or https://host:port, several with commas",
        ),
    ],
)
def test_bad_settings_are_one_line(tmp_path: Path, overrides: list[str], message: str) -> None:
    words = [word for each in overrides for word in ("--override", each)]
    (tmp_path / "empty.properties").write_text("")
    ended = subprocess.run(
        [*COMMAND, str(tmp_path / "empty.properties"), *words], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (1, f"kafka-rest-start: {message}\n")


def test_the_shipped_file_is_known_whole() -> None:
    configs = read_properties(SHIPPED)
    assert list(unknown_names(configs)) == []
    assert RestSettings.from_configs(configs).endpoints[0].port == 8082


def test_clients_get_what_is_theirs() -> None:
    settings = RestSettings.from_configs(
        {
            "bootstrap.servers": "one:1,two:2",
            "client.security.protocol": "SSL",
            "client.timeout.ms": "7000",
            "producer.linger.ms": "5",
            "producer.threads": "9",
            "admin.client.id": "mine",
        }
    )
    assert settings.producer_configs["linger.ms"] == "5"
    assert settings.producer_configs["delivery.timeout.ms"] == "7000"
    assert "threads" not in settings.producer_configs
    assert settings.admin_configs["client.id"] == "mine"
    assert settings.admin_configs["security.protocol"] == "SSL"
    assert settings.admin_configs["bootstrap.servers"] == "one:1,two:2"


def test_a_name_that_nobody_knows_is_told_with_the_nearest() -> None:
    [line] = unknown_names({"listener": "x"})
    assert line == "unknown setting listener is ignored; did you mean listeners?"


def test_a_bad_number_names_its_key() -> None:
    with pytest.raises(ConfigError, match=r"client\.timeout\.ms"):
        RestSettings.from_configs({"bootstrap.servers": "a:1", "client.timeout.ms": "soon"})


def test_limits_of_head_and_body(broker: InProcessBroker) -> None:
    limits = {"max_request_header_size": "3000", "request_body_timeout_ms": "300"}
    size = "api_v3_produce_request_size_limit_max_bytes"
    with running(broker.bootstrap_servers, **limits, **{size: "2000"}) as proxy:
        check_limits(proxy.port, f"{proxy.cluster}/topics", 3000, 300, 2000)
