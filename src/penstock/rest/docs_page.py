"""`/docs`: the API's description as a page, whole in itself, and `/openapi.json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from penstock.rest.fields import OPENAPI_TYPES, Fields
from penstock.rest.openapi import describe
from penstock.rest.operations import Operation
from penstock.web.media_types import MediaTypes
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes

HTML = MediaTypes(produces=("text/html; charset=utf-8", "text/html"), consumes=("application/json",))

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd }
details { margin: .3rem 0; padding: .3rem .6rem; border: 1px solid #ddd; border-radius: 4px }
summary { cursor: pointer } code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere }
b { display: inline-block; width: 4.5rem; font: bold 12px ui-monospace, monospace }
.GET { color: #05a } .POST { color: #070 } .PUT, .PATCH { color: #a60 } .DELETE { color: #a00 }
table { border-collapse: collapse; margin: .5rem 0 } td { padding: .1rem .8rem .1rem 0; vertical-align: top }
"""


def docs_routes(operations: Sequence[Operation]) -> Routes:
    routes = Routes()
    described, page = json_response(describe(operations)), _page(operations).encode()

    @routes.get("/openapi.json")
    async def openapi(request: Request) -> Response:
        return described

    @routes.get("/docs", HTML)
    async def docs(request: Request) -> Response:
        return Response(page, content_type=HTML.produces[0])

    return routes


def _page(operations: Iterable[Operation]) -> str:
    sections = [
        f"<h2>{escape(tag)}</h2>" + "".join(map(_operation, members))
        for tag, members in groupby(operations, key=lambda each: each.tag)
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>REST proxy</title>'
        f"<style>{_STYLE}</style><h1>REST proxy</h1>"
        '<p>As <a href="openapi.json">openapi.json</a>.'
        f"{''.join(sections)}</html>"
    )


def _operation(operation: Operation) -> str:
    parameters = [(each.name, OPENAPI_TYPES[each.kind], each.description) for each in operation.query]
    return (
        f'<details><summary><b class="{operation.method}">{operation.method}</b>'
        f"<code>{escape(operation.path)}</code><br>{escape(operation.summary)}</summary>"
        f"{_table('Query', parameters)}{_body(operation.body)}"
        f"<p>Answers with {operation.status}, {escape(operation.media_types.produces[0])}.</details>"
    )


def _body(fields: Fields | None, title: str = "Body") -> str:
    if fields is None:
        return ""
    rows = [
        (
            name,
            OPENAPI_TYPES.get(field.kind, "anything") + (", required" if field.required else ""),
            _says(field.description, field.values),
        )
        for name, field in fields.fields.items()
    ]
    nested = [
        _body(field.items, f"Each of {name}" if field.kind is list else f"In {name}")
        for name, field in fields.fields.items()
        if field.items is not None
    ]
    return _table(title, rows) + "".join(nested)


def _says(description: str, values: tuple[str, ...]) -> str:
    return description or ", ".join(values)


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code><td>{escape(kind)}<td>{escape(text)}"
        for name, kind, text in rows
    )
    return f"<p>{escape(title)}:<table>{cells}</table>"
