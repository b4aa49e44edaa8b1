"""The settings of a registry client or a serializer that stands by itself, from the same table as the clients'."""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.client.config.registry import DESERIALIZERS, REGISTRY_CLIENT, SERIALIZERS, SUBJECTS
from penstock.client.config.setting import ClientSetting, ClientTable, Native
from penstock.errors import ConfigError
from penstock.settings.kinds import Kind

ALIASES = {
    "url": "schema.registry.url",
    "schema.registry.basic.auth.user.info": "basic.auth.user.info",
    "schema.registry.basic.auth.credentials.source": "basic.auth.credentials.source",
    "ssl.ca.location": "schema.registry.ssl.truststore.location",
}
"""Other names that Confluent's clients have for some."""

_SASL = (
    ClientSetting("sasl.username", Kind.STRING, None, "For SASL_INHERIT.", librdkafka=Native.NONE),
    ClientSetting("sasl.password", Kind.PASSWORD, None, "For SASL_INHERIT.", librdkafka=Native.NONE),
)
_OF_ONE_FIELD = (
    ClientSetting(
        "subject.name.strategy",
        None,
        None,
        "Of keys or values.",
        librdkafka=Native.NONE,
        static_type="object",
    ),
    ClientSetting(
        "schema.id.serializer", None, None, "Of keys or values.", librdkafka=Native.NONE, static_type="object"
    ),
)

CLIENT_TABLE = ClientTable((*REGISTRY_CLIENT, *_SASL), ALIASES)
SERDE_TABLE = ClientTable(
    (*REGISTRY_CLIENT, *_SASL, *SUBJECTS, *SERIALIZERS, *DESERIALIZERS, *_OF_ONE_FIELD), ALIASES
)


def client_settings(
    config: str | Sequence[str] | Mapping[str, object] | None, keywords: Mapping[str, object]
) -> dict[str, Any]:
    """All settings of a client, of a URL, several, or a mapping; and of keywords."""
    given: Mapping[str, object]
    if config is None or isinstance(config, Mapping):
        given = config or {}
    else:
        given = {"schema.registry.url": config}
    values = {**CLIENT_TABLE.read(given), **CLIENT_TABLE.read(keywords)}
    values = {**{name: setting.default for name, setting in CLIENT_TABLE.items()}, **values}
    if not values["schema.registry.url"]:
        raise ConfigError("schema.registry.url: missing; give it as http://host:port[,http://host:port...]")
    return values


def client_part(settings: Mapping[str, object]) -> dict[str, object]:
    """Those of a producer's or a consumer's settings that its registry client has."""
    return {name: value for name, value in settings.items() if name in CLIENT_TABLE and value is not None}
