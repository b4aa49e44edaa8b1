"""How the client that asks reaches the proxy: for the addresses in answers."""

from __future__ import annotations

from penstock.rest.kafka import Kafka
from penstock.web.request import Request


def root(kafka: Kafka, request: Request) -> str:
    """`http://host:port`, or with https where that is how it was asked."""
    return f"{request.scope['scheme']}://{authority(kafka, request)}"


def authority(kafka: Kafka, request: Request) -> str:
    """The host and the port that it asked for, or `host.name`."""
    asked = request.header(b"host")
    if not asked:
        host, port = request.scope["server"]
        asked = f"{host}:{port}"
    own = kafka.settings.host_name
    return asked if own is None else f"{own}:{request.scope['server'][1]}"
