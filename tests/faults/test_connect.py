"""Pipelines of Connect on Spark while their parts are killed: each record ends exactly once in each place."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.broker.platform import Platform
from tests.faults.connect_pipeline import ConnectPipeline
from tests.support.postgres import running_postgres

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7200)]

ROUNDS = int(os.environ.get("PENSTOCK_FAULT_CONNECT_ROUNDS", "2"))
LINES = 2_000
MOST_SECONDS_BEFORE_A_FAULT = 4.0


def test_every_record_arrives_exactly_once(tmp_path: Path, platform: Platform, chance: random.Random) -> None:
    with running_postgres() as postgres:
        pipeline = ConnectPipeline(tmp_path, platform, postgres, chance)
        try:
            pipeline.start()
            pipeline.write(LINES)
            pipeline.wait_until_all_is_there()
            faults = pipeline.faults()
            order = [*chance.sample(faults, len(faults)), *chance.choices(faults, k=ROUNDS)][:ROUNDS]
            for fault in order:
                pipeline.write(LINES)
                time.sleep(chance.uniform(0, MOST_SECONDS_BEFORE_A_FAULT))
                print(f"{fault.__name__} with {pipeline.found()}")
                fault()
                if chance.random() < 0.5:  # else the next one comes while it recovers
                    pipeline.wait_until_all_is_there()
            pipeline.write(LINES)
            pipeline.wait_until_all_is_there()
            once = (pipeline.written, pipeline.written)
            assert pipeline.found() == dict.fromkeys(("upserted", "inserted", "parquet", "mirrored"), once)
        finally:
            pipeline.stop()
