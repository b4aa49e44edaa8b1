"""Programs on the running platform: `penstock streams deploy`, `list`, `describe`, `stop`, `start`, `delete`."""

import argparse
import json
import os
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from penstock.errors import PenstockError
from penstock.pipeline.tasks.program import ProgramFile

ENVIRONMENT_NAME = "PENSTOCK_PIPELINE_URL"
LOCAL = "http://localhost:8083"
SECONDS = 60.0
NO_SUCH_PATH = "HTTP 404 Not Found"


class PlatformError(PenstockError):
    """The platform refuses, or does not answer."""


def add_url(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url",
        default=os.environ.get(ENVIRONMENT_NAME) or LOCAL,
        help=f"the platform's pipeline process; %(default)s (or ${ENVIRONMENT_NAME})",
    )


class Platform:
    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def deploy(self, file: ProgramFile, configs: dict[str, str]) -> dict[str, Any]:
        name = file.load().application_id
        body = {"path": os.path.basename(file.path), "text": file.text, "configs": configs}
        described: dict[str, Any] = self._ask("PUT", f"/programs/{quote(name, safe='')}", body)
        return described

    def programs(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._ask("GET", "/programs")
        return listed

    def described(self, name: str) -> dict[str, Any]:
        described: dict[str, Any] = self._ask("GET", f"/programs/{quote(name, safe='')}")
        return described

    def tell(self, name: str, what: str) -> dict[str, Any]:
        described: dict[str, Any] = self._ask("POST", f"/programs/{quote(name, safe='')}/{what}")
        return described

    def rows(self, name: str, store: str, question: dict[str, str]) -> list[dict[str, Any]]:
        path = f"/programs/{quote(name, safe='')}/stores/{quote(store, safe='')}"
        rows: list[dict[str, Any]] = self._ask("GET", f"{path}?{urlencode(question)}")
        return rows

    def delete(self, name: str) -> None:
        self._ask("DELETE", f"/programs/{quote(name, safe='')}")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._url}{path}", data, {"content-type": "application/json"}, method=method)
        try:
            with urlopen(request, timeout=SECONDS) as answer:
                text = answer.read()
        except HTTPError as error:
            reason = _reason(error)
            if reason == NO_SUCH_PATH:
                reason = f"{self._url} takes no programs; program.deploy.enable=true in its settings lets it"
            raise PlatformError(reason) from None
        except (URLError, TimeoutError) as error:
            cause = getattr(error, "reason", error)
            raise PlatformError(
                f"{self._url} does not answer ({cause}); is the platform running, and its connect service with it?"
            ) from None
        return json.loads(text) if text else None


def _reason(error: HTTPError) -> str:
    text = error.read()
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {error.code}: {text[:200]!r}"


# --- commands


def deploy(parsed: argparse.Namespace) -> int:
    file = ProgramFile.read(parsed.file)
    described = Platform(parsed.url).deploy(file, parsed.settings)
    print(f"deployed {described['name']}; `penstock streams describe {described['name']}` tells how it fares")
    return 0


def list_programs(parsed: argparse.Namespace) -> int:
    programs = Platform(parsed.url).programs()
    rows = [("NAME", "STATE", "FAILURE")]
    rows += [(each["name"], each["state"], each["failure"] or "-") for each in programs]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, state, failure in rows:
        print(f"{name:<{widths[0]}}  {state:<{widths[1]}}  {failure}")
    return 0


def describe(parsed: argparse.Namespace) -> int:
    found = Platform(parsed.url).described(parsed.program)
    if parsed.json:
        print(json.dumps(found, indent=2))
        return 0
    for name in ("name", "state", "failure", "file", "restarts"):
        print(f"{name + ':':<10} {'-' if found[name] is None else found[name]}")
    print(f"{'tasks:':<10} {', '.join(found['tasks_here']) or 'none in this process'}")
    for what, count in found["skipped_records"].items():
        print(f"{'skipped:':<10} {count} records ({what})")
    for name, value in found["configs"].items():
        print(f"{'setting:':<10} {name}={value}")
    print(found["topology"], end="")
    return 0


def tell(parsed: argparse.Namespace) -> int:
    described = Platform(parsed.url).tell(parsed.program, parsed.what)
    print(f"{described['name']}: {described['state']}")
    return 0


def delete(parsed: argparse.Namespace) -> int:
    Platform(parsed.url).delete(parsed.program)
    print(f"deleted {parsed.program}; its topics and its position are still there")
    return 0


def query(parsed: argparse.Namespace) -> int:
    asked = {"key": parsed.key, "first": parsed.first, "last": parsed.last, "limit": parsed.limit}
    question = {name: text for name, text in asked.items() if text is not None}
    for row in Platform(parsed.url).rows(parsed.program, parsed.store, question):
        print(json.dumps(row, ensure_ascii=False))
    return 0
