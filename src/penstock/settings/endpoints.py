"""Listeners: where a broker listens, and what it tells clients to connect to.

`NAME://host:port`. The name is free; `listener.security.protocol.map` says which security protocol it speaks.
An empty host, 0.0.0.0 and :: listen on every interface. None of them is an address a client could use, so an
advertised listener must name a host; where it is not configured, an empty host is advertised as this
machine's name, and 0.0.0.0 is refused, as in Kafka.
"""

import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from penstock.errors import ConfigError

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
EVERY_INTERFACE = ("", "0.0.0.0", "::")

_ENDPOINT = re.compile(
    r"(?P<name>[A-Za-z0-9_.-]+)://(\[(?P<v6>[0-9a-fA-F:.%]+)]|(?P<host>[^\[\]:/]*)):(?P<port>[0-9]{1,5})"
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    listener_name: str
    security_protocol: str
    host: str
    port: int

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.listener_name}://{self.address}"


def parse_protocol_map(text: str) -> dict[str, str]:
    """`listener.security.protocol.map`: security protocol by listener name."""
    protocols: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, colon, protocol = (part.strip().upper() for part in pair.rpartition(":"))
        if not colon or not name or protocol not in SECURITY_PROTOCOLS:
            raise ConfigError(
                f"listener.security.protocol.map: got {pair!r}; takes NAME:PROTOCOL pairs, "
                f"the protocol one of {', '.join(SECURITY_PROTOCOLS)}"
            )
        if name in protocols:
            raise ConfigError(f"listener.security.protocol.map: {name} stands twice; takes each name once")
        protocols[name] = protocol
    return protocols


def parse_endpoints(key: str, texts: Iterable[str], protocols: Mapping[str, str]) -> tuple[Endpoint, ...]:
    endpoints = tuple(_parse_endpoint(key, text, protocols) for text in texts)
    if not endpoints:
        raise ConfigError(f"{key}: got nothing; takes NAME://host:port, at least one")
    names = [endpoint.listener_name for endpoint in endpoints]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{key}: {name} stands twice; takes each listener name once")
    return endpoints


def _parse_endpoint(key: str, text: str, protocols: Mapping[str, str]) -> Endpoint:
    match = _ENDPOINT.fullmatch(text)
    if match is None or int(match["port"]) > 65535:
        raise ConfigError(f"{key}: got {text!r}; takes NAME://host:port, as in PLAINTEXT://127.0.0.1:9092")
    name = match["name"].upper()
    if name not in protocols:
        raise ConfigError(f"{key}: got {text!r}; listener.security.protocol.map has no protocol for {name}")
    return Endpoint(name, protocols[name], match["v6"] or match["host"], int(match["port"]))


def refuse_shared_ports(endpoints: Iterable[Endpoint]) -> None:
    """Two listeners may share a port only with an IPv4 and an IPv6 address."""
    seen: dict[tuple[int, bool], Endpoint] = {}
    for endpoint in endpoints:
        slot = (endpoint.port, ":" in endpoint.host)
        if endpoint.port and slot in seen:
            raise ConfigError(f"listeners: {seen[slot]} and {endpoint} share a port; takes one port each")
        seen[slot] = endpoint


def refuse_unreachable(endpoints: Iterable[Endpoint]) -> None:
    for endpoint in endpoints:
        if endpoint.host in EVERY_INTERFACE:
            raise ConfigError(
                f"advertised.listeners: {endpoint} is no address that a client can connect to; set "
                f"advertised.listeners to a host that clients reach, as in "
                f"{endpoint.listener_name}://localhost:{endpoint.port}"
            )


def advertise(endpoint: Endpoint) -> Endpoint:
    """What a listener is advertised as when nothing is configured."""
    return endpoint if endpoint.host else replace(endpoint, host=name_of_this_machine())


def name_of_this_machine() -> str:
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return "localhost"
    return name
