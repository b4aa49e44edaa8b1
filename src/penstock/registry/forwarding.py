"""Writes that a follower passes on to the leader, as Confluent's registries do."""

from __future__ import annotations

from functools import lru_cache

from penstock.registry import errors
from penstock.registry.election_protocol import Identity
from penstock.registry.settings import RegistrySettings
from penstock.web.forwarding import ForwardingFailed, Patience, pass_on
from penstock.web.listeners import HTTPS, Listener
from penstock.web.request import Request
from penstock.web.response import Response
from penstock.web.tls import TlsFiles

FORWARDED = b"x-forward"
_client_context = lru_cache(maxsize=1)(TlsFiles.client_context)


async def forward(request: Request, leader: Identity, settings: RegistrySettings) -> Response:
    """The leader's answer, whatever it is; `RegistryError` 50003 if there is none."""
    tls = _client_context(settings.web.tls_files) if leader.scheme == HTTPS else None
    patience = Patience(settings.leader_connect_timeout_ms, settings.leader_read_timeout_ms)
    to = Listener(leader.host, leader.port, leader.scheme)
    try:
        return await pass_on(request, to, patience, headers={FORWARDED: b"true"}, tls=tls)
    except ForwardingFailed as error:
        raise errors.forwarding_failed(
            f"Unexpected error while forwarding the request to the leader {leader.url}: {error}"
        ) from None
