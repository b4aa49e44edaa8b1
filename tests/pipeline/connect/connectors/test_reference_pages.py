"""The pages of connectors have every key as it is defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.pipeline.connect.api import ConfigDef
from penstock.pipeline.connect.api.config_def import ConfigKey
from penstock.pipeline.connect.connectors.http import http_config
from penstock.pipeline.connect.connectors.jdbc import sink_config, source_config
from penstock.pipeline.connect.connectors.lake import lake_config

PAGES = Path(__file__).parents[4] / "docs/reference/connectors"


def row(key: ConfigKey) -> str:
    default = "required" if key.is_required else key.default
    text = ",".join(default) if isinstance(default, list) else str(default)
    shown = "" if default is None or text == "" else text.lower() if isinstance(default, bool) else text
    cell = f"`{shown}`" if shown and shown != "required" else shown
    return f"| `{key.name}` | {cell} | {key.doc} |".replace("`|`", r"`\|`")


@pytest.mark.parametrize(
    ("page", "keys"),
    [
        ("lake.md", lake_config.SINK_KEYS),
        ("lake.md", lake_config.SOURCE_KEYS),
        ("http.md", http_config.SINK_KEYS),
        ("http.md", http_config.SOURCE_KEYS),
        ("jdbc.md", sink_config.SINK_KEYS),
        ("jdbc.md", source_config.SOURCE_KEYS),
    ],
)
def test_every_key_is_told_of(page: str, keys: ConfigDef) -> None:
    lines = (PAGES / page).read_text().splitlines()
    assert [row(key) for key in keys if row(key) not in lines] == []
