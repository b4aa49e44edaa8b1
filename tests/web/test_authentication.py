"""Basic authentication: who comes in, and what those hear who do not."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.web.app import HttpApp
from penstock.web.media_types import MediaTypes
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes
from penstock.web.settings import WebSettings
from tests.web.served import ask, served

JSON = MediaTypes(produces=("application/json",), consumes=("application/json",))
USERS = f"""
# name: password, roles
ada: s:ecret, admin, user
bob:plain
eve: SHA256:{hashlib.sha256(b"with, comma").hexdigest()}, user
"""


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("basic") / "users"
    file.write_text(USERS)
    return file


@pytest.fixture(scope="module")
def port(users: Path) -> Iterator[int]:
    configs = {
        "authentication.method": "basic",
        "authentication.users.location": str(users),
        "authentication.realm": "Schemas",
        "authentication.roles": "user,operator",
        "authentication.skip.paths": "/open,/below/*",
    }
    settings = WebSettings.from_configs(configs, [])

    def make_app() -> HttpApp:
        routes = Routes()

        async def answer(request: Request) -> Response:
            return json_response("come in")

        for path in ("/", "/open", "/open/door", "/below/{it}"):
            routes.add("GET", path, answer)
        return HttpApp(routes, JSON, authentication=settings.authentication)

    with served(make_app) as port:
        yield port


def basic(login: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}


@pytest.mark.parametrize("login", ["ada:s:ecret", "eve:with, comma"])
def test_who_comes_in(port: int, login: str) -> None:
    response, said = ask(port, "GET", "/", headers=basic(login))
    assert (response.status, said) == (200, "come in")
    assert ask(port, "GET", "/nothing", headers=basic(login))[0].status == 404


@pytest.mark.parametrize(
    "headers",
    [
        {},
        basic("ada:wrong"),
        basic("ada:"),
        basic("ada"),
        basic("nobody:s:ecret"),
        {"Authorization": "Basic ###"},
        {"Authorization": "Basic gICA"},
        {"Authorization": "Bearer YWRhOnM6ZWNyZXQ="},
    ],
)
@pytest.mark.parametrize("path", ["/", "/nothing", "/open/door", "/below"])
def test_who_does_not(port: int, headers: dict[str, str], path: str) -> None:
    """Nor do they hear what is there."""
    response, said = ask(port, "GET", path, headers=headers)
    assert (response.status, said) == (401, {"error_code": 401, "message": "Unauthorized"})
    assert response.headers["www-authenticate"] == 'Basic realm="Schemas"'


def test_a_user_without_a_role(port: int) -> None:
    response, said = ask(port, "GET", "/", headers=basic("bob:plain"))
    assert (response.status, said["error_code"]) == (403, 403)


@pytest.mark.parametrize("path", ["/open", "/below/this"])
def test_paths_for_everybody(port: int, path: str) -> None:
    assert ask(port, "GET", path)[0].status == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "authentication.users.location: {path}: No such file or directory"),
        ("# nobody", "authentication.users.location: {path} has no users; takes lines of name: password"),
        ("a: b\nada", "authentication.users.location: {path}, line 2: takes name: password[,role...]"),
        (": b", "line 1: takes name: password[,role...]"),
        ("a: SHA256:12", "line 1: takes 64 digits in hex after SHA256:"),
        ("a: SHA256:x", "line 1: takes 64 digits in hex after SHA256:"),
    ],
)
def test_files_that_cannot_be(text: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if text is not None:
        path.write_text(text)
    configs = {"authentication.method": "BASIC", "authentication.users.location": str(path)}
    with pytest.raises(ConfigError) as refused:
        WebSettings.from_configs(configs, [])
    assert message.format(path=path) in str(refused.value)
