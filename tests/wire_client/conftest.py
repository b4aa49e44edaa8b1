"""The same questions in both colours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from penstock.testing import InProcessBroker
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster, blocking_cluster, now

Question = Callable[[Cluster], Awaitable[Any]]


class Asker:
    """Puts a question to a cluster, over plain sockets or in an event loop."""

    def __init__(self, is_blocking: bool) -> None:
        self.is_blocking = is_blocking

    def __call__(self, question: Question, bootstrap: str, **configs: str) -> Any:
        named = {key.replace("_", "."): value for key, value in configs.items()}
        config = ClusterConfig.from_configs({"bootstrap.servers": bootstrap, **named})
        return self._blocking(question, config) if self.is_blocking else self._asyncio(question, config)

    def _blocking(self, question: Question, config: ClusterConfig) -> Any:
        with blocking_cluster(config) as cluster:
            return now(question(cluster))  # type: ignore[arg-type]

    def _asyncio(self, question: Question, config: ClusterConfig) -> Any:
        async def ask() -> Any:
            async with asyncio_cluster(config) as cluster:
                return await question(cluster)

        return asyncio.run(ask())


@pytest.fixture(params=["blocking", "asyncio"])
def ask(request: pytest.FixtureRequest) -> Asker:
    return Asker(request.param == "blocking")


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as broker:
        yield broker
