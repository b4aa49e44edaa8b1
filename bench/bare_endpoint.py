"""The floor under every figure of an HTTP service: a Starlette endpoint that reads a JSON body and answers a little,
and one that answers with a text from memory.

`python -m bench.bare_endpoint` serves it with the same server as the services, and prints where.
"""

from __future__ import annotations

import asyncio

import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from penstock.web.listeners import Listener
from penstock.web.serving import serving

TEXT = "x" * 600


async def answer(request: Request) -> JSONResponse:
    await request.json()
    return JSONResponse({"error_code": 200})


async def read(request: Request) -> JSONResponse:
    return JSONResponse({"id": request.path_params["id"], "schema": TEXT})


async def serve() -> None:
    app = Starlette(routes=[Route("/", answer, methods=["POST"]), Route("/schemas/ids/{id}", read)])
    async with serving(app, [Listener("127.0.0.1", 0)]) as [listener]:
        print(f"Bare endpoint is ready on {listener}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve())
