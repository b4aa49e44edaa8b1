"""The README's own pipeline, made-up page views into a table and a lake, and Connect killed in the middle of it."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import duckdb

from tests.broker.platform import Platform
from tests.faults.connect_pipeline import JSON, PATIENCE_SECONDS, ConnectPipeline
from tests.support.processes import wait_for
from tests.support.topic_records import records_to_end

README: Final = (Path(__file__).parents[2] / "README.md").read_text()
CREATION: Final = re.compile(r"connectors/(\w+)/config -d '({.*?})'$", re.DOTALL | re.MULTILINE)
MOST_SECONDS_BEFORE_A_KILL: Final = 3.0


class ReadmePipeline(ConnectPipeline):
    """Only the folder differs from what the README says, and the pace: a transaction is open nearly all the time."""

    def __init__(self, folder: Path, platform: Platform, chance: random.Random) -> None:
        super().__init__(folder, platform, None, chance)
        self._bootstrap = platform.bootstrap
        self._table = folder / "views.db"

    def _worker_settings(self) -> dict[str, str]:
        return {"key.converter": JSON, "value.converter": JSON}

    def _connectors(self) -> dict[str, dict[str, str]]:
        text = README.replace("/tmp/", f"{self._folder}/")
        found = {name: json.loads(config) for name, config in CREATION.findall(text)}
        assert set(found) == {"views", "table", "lake"}
        found["views"]["max.interval"] = "1"
        return found

    def kill_in_the_middle(self) -> None:
        """At a moment when records arrive in the table."""
        before = self.found()["table"][0]
        wait_for(lambda: self.found()["table"][0] > before, PATIENCE_SECONDS, self._described, 0.2)
        time.sleep(self._chance.uniform(0, MOST_SECONDS_BEFORE_A_KILL))
        self.kill_the_pipeline()

    def rest(self) -> int:
        """Ends the source; how many views it has made, as who reads what is committed sees them."""
        wait_for(lambda: self._client.send("PUT", "/connectors/views/stop").status == 204, PATIENCE_SECONDS)
        wait_for(self._has_stopped, PATIENCE_SECONDS, self._described)
        views = [json.loads(each.value)["payload"] for each in records_to_end(self._bootstrap, "views")]
        assert len({view["viewtime"] for view in views}) == len(views)
        self.written = len(views)
        return self.written

    def _has_stopped(self) -> bool:
        return bool(
            self._client.send("GET", "/connectors/views/status").body["connector"]["state"] == "STOPPED"
        )

    def found(self) -> dict[str, tuple[int, int]]:
        return {"table": self._in_the_table(), "lake": self._in_the_lake()}

    def _in_the_table(self) -> tuple[int, int]:
        if not self._table.exists():
            return 0, 0
        with closing(sqlite3.connect(self._table, timeout=30)) as connection:
            [(is_there,)] = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'views'")
            query = "SELECT count(*), count(DISTINCT viewtime) FROM views"
            return connection.execute(query).fetchone() if is_there else (0, 0)

    def _in_the_lake(self) -> tuple[int, int]:
        files = f"{self._folder}/lake/topics/views/*/*.parquet"
        if not any(self._folder.glob("lake/topics/views/*/*.parquet")):
            return 0, 0
        [found] = duckdb.sql(f"SELECT count(*), count(DISTINCT viewtime) FROM '{files}'").fetchall()
        return found
