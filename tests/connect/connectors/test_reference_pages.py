"""The pages of connectors have every key as it is defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.pipeline.connect.api import ConfigDef
from penstock.pipeline.connect.api.config_def import ConfigKey
from penstock.pipeline.connect.connectors.http.http_config import sink_keys as http_sink_keys
from penstock.pipeline.connect.connectors.http.http_config import source_keys as http_source_keys
from penstock.pipeline.connect.connectors.jdbc.sink_config import sink_keys as jdbc_sink_keys
from penstock.pipeline.connect.connectors.jdbc.source_config import source_keys as jdbc_source_keys
from penstock.pipeline.connect.connectors.lake.lake_config import sink_keys, source_keys

PAGES = Path(__file__).parents[3] / "docs/reference/connectors"


def row(key: ConfigKey) -> str:
    default = "required" if key.is_required else key.default
    text = ",".join(default) if isinstance(default, list) else str(default)
    shown = "" if default is None or text == "" else text.lower() if isinstance(default, bool) else text
    cell = f"`{shown}`" if shown and shown != "required" else shown
    return f"| `{key.name}` | {cell} | {key.doc} |".replace("`|`", r"`\|`")


@pytest.mark.parametrize(
    ("page", "keys"),
    [
        ("lake.md", sink_keys()),
        ("lake.md", source_keys()),
        ("http.md", http_sink_keys()),
        ("http.md", http_source_keys()),
        ("jdbc.md", jdbc_sink_keys()),
        ("jdbc.md", jdbc_source_keys()),
    ],
)
def test_every_key_is_told_of(page: str, keys: ConfigDef) -> None:
    lines = (PAGES / page).read_text().splitlines()
    assert [row(key) for key in keys if row(key) not in lines] == []
