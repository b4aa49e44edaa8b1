"""The page of endpoints is what the registry serves: each path, and each query parameter that is looked at."""

from __future__ import annotations

import http.client
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from penstock.registry import api
from penstock.registry.decisions_config import _CONFIG, POLICIES
from penstock.testing import InProcessBroker, InProcessRegistry
from penstock.web.request import Request

PAGE = Path(__file__).parents[3] / "docs/reference/registry_api.md"
ROW = re.compile(r"^\| (GET|POST|PUT|DELETE) \| `(\S+)` \| (.*)\|$", re.MULTILINE)
BODIES = {"PUT": {"compatibility": "FULL", "mode": "READWRITE"}, "POST": {"schema": '"string"'}}
Seen = dict[tuple[str, str], set[str]]


def documented() -> Seen:
    return {
        (method, path): set(re.findall(r"`(\w+)`", query))
        for method, path, query in ROW.findall(PAGE.read_text())
    }


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Which parameters are asked for, by method and path."""
    asked: Seen = defaultdict(set)

    class Recorded(dict[str, list[str]]):
        def __init__(self, request: Request) -> None:
            self.request = request

        def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
            asked[self.request.method, self.request.scope["path"]].add(name)
            return default

    monkeypatch.setattr(Request, "query", property(Recorded))
    return asked


@pytest.fixture
def registry() -> Iterator[InProcessRegistry]:
    with InProcessBroker() as broker, InProcessRegistry(broker.bootstrap_servers) as running:
        yield running


def ask(registry: InProcessRegistry, method: str, path: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(registry.url).netloc, timeout=60)
    try:
        connection.request(
            method, path, json.dumps(BODIES.get(method, {})), {"content-type": "application/json"}
        )
        return connection.getresponse().status
    finally:
        connection.close()


def served() -> set[tuple[str, str]]:
    routes = [each for resource in api.RESOURCES for each in resource.routes_of(None).all]  # type: ignore[arg-type]
    return {(method, route.template) for method, route in routes}


def test_each_path_is_on_the_page() -> None:
    assert served() == documented().keys()


def test_each_parameter_is_on_the_page(registry: InProcessRegistry, seen: Seen) -> None:
    page = {(method, example(template)): names for (method, template), names in documented().items()}
    for method, path in page:
        assert ask(registry, method, path) < 500
    assert seen == {route: names for route, names in page.items() if names}


def example(template: str) -> str:
    return re.sub(r"{\w+}", "s", template.replace("{id}", "1").replace("{version}", "1"))


def test_each_member_of_a_config_is_on_the_page() -> None:
    (row,) = re.findall(r"^\| `PUT /config` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == _CONFIG.keys()
    assert f"({', '.join(POLICIES)})" in row
