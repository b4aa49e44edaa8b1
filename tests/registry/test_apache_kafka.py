"""The same registry on Apache Kafka."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.registry.api.schemas import USER, USER_WITH_AGE, USER_WITH_EMAIL
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for
from tests.support.registry import Registry, own_group

pytestmark = pytest.mark.processes

PATIENCE_SECONDS = 120.0


def test_two_registries_on_apache_kafka(tmp_path: Path, apache: KafkaServer) -> None:
    """Registration through either, a leader that is killed, and a restart.

    Ids have no gaps but those of writes that failed, as some may while the two agree on who leads.
    """
    failed: list[Any] = []
    group = own_group()
    registries = [Registry(apache.bootstrap, tmp_path, group) for _ in range(2)]
    try:
        for registry in registries:
            registry.wait_until_ready()
        one, two = registries
        first = register(one, "users", USER, failed)
        assert 1 <= first <= 1 + len(failed), failed
        second = register(two, "users", USER_WITH_AGE, failed)
        assert first < second <= 2 + len(failed), failed
        refused = two.post("/subjects/users/versions", {"schema": USER_WITH_EMAIL})
        assert (refused.status, refused.body["error_code"]) == (409, 40901)
        leader, follower = sorted(registries, key=lambda registry: registry.url)
        leader.process.signal(signal.SIGKILL)
        leader.process.wait()
        assert register(follower, "others", USER, failed) == first
        third = register(follower, "others", '"string"', failed, {"compatibility": "NONE"})
        assert second < third <= 3 + len(failed), failed
        leader.restart()
        leader.wait_until_ready()
        assert leader.get("/subjects/users/versions").body == [1, 2]
        assert leader.get(f"/schemas/ids/{third}/schema").body == "string"
    finally:
        for registry in registries:
            registry.process.stop()


def register(
    registry: Registry, subject: str, schema: str, failed: list[Any], config: dict[str, str] | None = None
) -> int:
    """The id; tries again while there is no leader, and adds what was said then to `failed`."""

    def done() -> int:
        if config is not None and registry.put(f"/config/{subject}", config).status != 200:
            return 0
        said = registry.post(f"/subjects/{subject}/versions", {"schema": schema})
        assert said.status in (200, 500, 503), said.body
        if said.status == 200:
            return int(said.body["id"])
        failed.append(said.body)
        return 0

    return wait_for(done, PATIENCE_SECONDS, f"{subject} to be registered", interval=0.2)
