"""From Kafka's settings to librdkafka's: most change at most their names, some their units, a few become others."""

import re
from collections.abc import Callable, Mapping

from penstock.client.config.setting import ClientTable
from penstock.errors import ConfigError
from penstock.settings import kinds
from penstock.settings.kinds import Password

Values = Mapping[str, object]
NativeConfig = dict[str, object]

_LOGIN_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([^\s;]+))')
_HIGHEST_NATIVE_LEVEL = 12
_ASSIGNORS = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}
_LEVEL_OF_CODEC = {
    "gzip": "compression.gzip.level",
    "lz4": "compression.lz4.level",
    "zstd": "compression.zstd.level",
}


def to_native(table: ClientTable, values: Values) -> NativeConfig:
    """librdkafka's names with values that it reads; what is None stays out."""
    native: NativeConfig = {}
    for name, value in values.items():
        native_name = table[name].native_name
        if value is None or native_name is None:
            continue
        change = _CHANGED.get(name)
        native[native_name] = _as_text(change(value) if change else value)
    for add in _ADDED:
        native |= {name: _as_text(value) for name, value in add(values).items()}
    return native


def _as_text(value: object) -> object:
    """As text, but for functions; a float without a fraction as the integer that librdkafka wants."""
    if callable(value):
        return value
    if isinstance(value, Password):
        return value.reveal()
    if isinstance(value, float):
        return f"{value:g}"
    return kinds.to_text(value)  # type: ignore[arg-type]


# --- settings that change their values


def _assignors(value: object) -> object:
    assert isinstance(value, tuple)
    return tuple(_ASSIGNORS.get(name, name) for name in value)


_CHANGED: dict[str, Callable[[object], object]] = {
    "security.protocol": lambda value: str(value).lower(),
    "group.protocol": lambda value: str(value).lower(),
    "ssl.endpoint.identification.algorithm": lambda value: value or "none",
    "send.buffer.bytes": lambda value: 0 if value == -1 else value,
    "receive.buffer.bytes": lambda value: 0 if value == -1 else value,
    "auto.offset.reset": lambda value: "error" if value == "none" else value,
    "partition.assignment.strategy": _assignors,
}


# --- settings that become others


def _login(values: Values) -> NativeConfig:
    """User and password of `sasl.jaas.config`, where they are not given by themselves."""
    text = values.get("sasl.jaas.config")
    if not isinstance(text, Password) or values.get("sasl.username"):
        return {}
    options = {match[1]: _unquoted(match) for match in _LOGIN_OPTION.finditer(text.reveal())}
    if not {"username", "password"} <= options.keys():
        raise ConfigError(
            "sasl.jaas.config: got a login without username and password; takes "
            '`...LoginModule required username="..." password="...";`'
        )
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _unquoted(match: re.Match[str]) -> str:
    quoted, single, bare = match.group(2, 3, 4)
    return re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else single or bare or ""


def _tokens_by_openid(values: Values) -> NativeConfig:
    needed = values.get("sasl.oauthbearer.token.endpoint.url") and not values.get("sasl.oauthbearer.method")
    return {"sasl.oauthbearer.method": "oidc"} if needed else {}


def _key_in_pem(values: Values) -> NativeConfig:
    """A key store in PEM is certificate and key in one file; librdkafka's own key store is PKCS#12."""
    location = values.get("ssl.keystore.location")
    if location is None or values.get("ssl.keystore.type") != "PEM":
        return {}
    return {"ssl.certificate.location": location, "ssl.key.location": location, "ssl.keystore.location": ""}


def _buffer(values: Values) -> NativeConfig:
    memory = values.get("buffer.memory")
    if not isinstance(memory, int) or values.get("queue.buffering.max.kbytes") is not None:
        return {}
    return {"queue.buffering.max.kbytes": max(1, memory // 1024)}


def _level(values: Values) -> NativeConfig:
    level = values.get(_LEVEL_OF_CODEC.get(str(values.get("compression.type")), ""))
    if not isinstance(level, int) or values.get("compression.level") is not None:
        return {}
    return {"compression.level": min(level, _HIGHEST_NATIVE_LEVEL)}


def _broker_timeout(values: Values) -> NativeConfig:
    """A producer tells the broker, too, how long it will wait for the replicas."""
    return {"request.timeout.ms": values["request.timeout.ms"]} if "acks" in values else {}


def _internal_topics(values: Values) -> NativeConfig:
    hides = values.get("exclude.internal.topics") and not values.get("topic.blacklist")
    return {"topic.blacklist": "^__"} if hides else {}


_ADDED: tuple[Callable[[Values], NativeConfig], ...] = (
    _login,
    _tokens_by_openid,
    _key_in_pem,
    _buffer,
    _level,
    _broker_timeout,
    _internal_topics,
)
