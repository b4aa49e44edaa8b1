"""`ProducerConfig`, `ConsumerConfig` and `AdminConfig`: Kafka's settings, by its dotted names or as keywords."""

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

from penstock.client.config.admin import ADMIN_TABLE
from penstock.client.config.consumer import CONSUMER_TABLE
from penstock.client.config.keywords.admin import AdminAttributes, AdminKeywords
from penstock.client.config.keywords.consumer import ConsumerAttributes, ConsumerKeywords
from penstock.client.config.keywords.producer import ProducerAttributes, ProducerKeywords
from penstock.client.config.producer import PRODUCER_TABLE
from penstock.client.config.setting import ClientTable
from penstock.client.config.translate import NativeConfig, to_native
from penstock.client.config.without_effect import why_without_effect
from penstock.errors import ConfigError

logger = logging.getLogger("penstock.client")

MOST_IN_FLIGHT_IN_ORDER = 5


class ClientConfig(Mapping[str, object]):
    """All settings by dotted name, those that were given and the defaults of the others; never changes."""

    TABLE: ClassVar[ClientTable]
    CLIENT_ID: ClassVar[str]

    def __init__(self, configs: Mapping[str, object] | None = None, /, **keywords: object) -> None:
        given = self.TABLE.read(configs or {})
        self.given: Mapping[str, object] = {**given, **self.TABLE.read(keywords)}
        """What was given, by dotted name."""
        defaults = {name: setting.default for name, setting in self.TABLE.items()}
        self._values = {**defaults, **self.given}
        if not self._values["bootstrap.servers"]:
            raise ConfigError("bootstrap.servers: missing; give it as host:port[,host:port...]")
        self._check()
        self._warn_of_settings_without_effect()

    @classmethod
    def of(cls, config: Mapping[str, object] | None, keywords: Mapping[str, object]) -> Self:
        """From a config or a mapping, and keywords that override it: what the clients do with their arguments.

        >>> from penstock import ProducerConfig
        >>> ProducerConfig.of({"bootstrap.servers": "localhost:9092"}, {"acks": 1}).acks
        '1'
        """
        if isinstance(config, ClientConfig) and not isinstance(config, cls):
            raise ConfigError(f"got a {type(config).__name__}; takes a {cls.__name__}")
        if isinstance(config, cls):
            return config if not keywords else config.replace(**keywords)
        return cls(config, **keywords)

    def replace(self, **keywords: object) -> Self:
        """The same with some settings changed.

        >>> from penstock import ProducerConfig
        >>> config = ProducerConfig(bootstrap_servers="localhost:9092")
        >>> config.replace(linger_ms=50).linger_ms
        50.0
        """
        return type(self)({**self.given, **self.TABLE.read(keywords)})

    def for_librdkafka(self) -> NativeConfig:
        """The same in librdkafka's names.

        >>> from penstock import ProducerConfig
        >>> config = ProducerConfig(bootstrap_servers="localhost:9092", buffer_memory=64 * 1024 * 1024)
        >>> config.for_librdkafka()["queue.buffering.max.kbytes"]
        '65536'
        """
        values = {name: value for name, value in self._values.items() if name not in self._left_out()}
        if not values["client.id"]:
            values["client.id"] = self.CLIENT_ID
        return to_native(self.TABLE, values)

    def _check(self) -> None:
        """Raises ConfigError where settings do not go together."""

    def _left_out(self) -> set[str]:
        """Defaults that librdkafka must not be told, as they do not go with what was given."""
        without_sasl = not str(self["security.protocol"]).upper().startswith("SASL")
        return {"sasl.mechanism"} - self.given.keys() if without_sasl else set()

    def _warn_of_settings_without_effect(self) -> None:
        for name in self.given:
            if reason := why_without_effect(name):
                logger.warning("%s has no effect: %s", name, reason)

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, ClientConfig) and self.given == other.given

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        words = ", ".join(f"{name.replace('.', '_')}={value!r}" for name, value in self.given.items())
        return f"{type(self).__name__}({words})"

    if not TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> object:
            setting = self.TABLE.of_attribute(attribute)
            if setting is None or "_values" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__} has no setting {attribute}")
            return self._values[setting.name]


class ProducerConfig(ClientConfig, ProducerAttributes):
    """The settings of a producer; `docs/reference/client_settings.md` has them all.

    >>> from penstock import ProducerConfig
    >>> config = ProducerConfig(bootstrap_servers="localhost:9092", linger_ms=20)
    >>> config.linger_ms, config["linger.ms"], config.acks
    (20.0, 20.0, 'all')
    >>> ProducerConfig({"bootstrap.servers": "localhost:9092", "linger.ms": "20"}) == config
    True
    """

    TABLE = PRODUCER_TABLE
    CLIENT_ID = "penstock-producer"

    if TYPE_CHECKING:

        def __init__(
            self, configs: Mapping[str, object] | None = None, /, **keywords: Unpack[ProducerKeywords]
        ) -> None: ...

        def replace(self, **keywords: Unpack[ProducerKeywords]) -> Self: ...  # type: ignore[override]

    def _check(self) -> None:
        for name, asks_for_more, takes in self._against_idempotence():
            if not asks_for_more:
                continue
            if self.given.get("enable.idempotence"):
                raise ConfigError(
                    f"{name}: got {self[name]!r}; takes {takes} while enable.idempotence is true"
                )
            if "transactional.id" in self.given:
                raise ConfigError(f"{name}: got {self[name]!r}; takes {takes} with a transactional.id")
            self._values["enable.idempotence"] = False
        if "transactional.id" in self.given and not self["enable.idempotence"]:
            raise ConfigError("enable.idempotence: got False; takes True with a transactional.id")

    def _against_idempotence(self) -> tuple[tuple[str, bool, str], ...]:
        in_flight = "max.in.flight.requests.per.connection"
        too_many = self.max_in_flight_requests_per_connection > MOST_IN_FLIGHT_IN_ORDER
        return (
            ("acks", self.acks not in ("all", "-1"), "all"),
            ("retries", self.retries == 0, "1 or more"),
            (in_flight, too_many, f"at most {MOST_IN_FLIGHT_IN_ORDER}"),
        )

    def _left_out(self) -> set[str]:
        # With transactions librdkafka keeps delivery.timeout.ms within transaction.timeout.ms by itself.
        transactional = self["transactional.id"] is not None
        unwanted = (
            {"delivery.timeout.ms"} - self.given.keys() if transactional else {"transaction.timeout.ms"}
        )
        return super()._left_out() | unwanted


class ConsumerConfig(ClientConfig, ConsumerAttributes):
    """The settings of a consumer; `docs/reference/client_settings.md` has them all.

    >>> from penstock import ConsumerConfig
    >>> config = ConsumerConfig(bootstrap_servers="localhost:9092", group_id="billing", auto_offset_reset="earliest")
    >>> config.max_poll_records
    500
    >>> ConsumerConfig(bootstrap_servers="localhost:9092", gruop_id="billing")
    Traceback (most recent call last):
    penstock.errors.ConfigError: unknown setting gruop_id; did you mean group_id?
    """

    TABLE = CONSUMER_TABLE
    CLIENT_ID = "penstock-consumer"

    if TYPE_CHECKING:

        def __init__(
            self, configs: Mapping[str, object] | None = None, /, **keywords: Unpack[ConsumerKeywords]
        ) -> None: ...

        def replace(self, **keywords: Unpack[ConsumerKeywords]) -> Self: ...  # type: ignore[override]

    def _left_out(self) -> set[str]:
        """What only the other group protocol knows: librdkafka refuses it, if it was given."""
        by_broker = str(self["group.protocol"]).lower() == "consumer"
        classic = {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"}
        unwanted = classic - self.given.keys() if by_broker else set()
        return super()._left_out() | unwanted


class AdminConfig(ClientConfig, AdminAttributes):
    """The settings of an admin client; `docs/reference/client_settings.md` has them all.

    >>> from penstock import AdminConfig
    >>> AdminConfig(bootstrap_servers="localhost:9092", default_api_timeout_ms=5000).default_api_timeout_ms
    5000
    """

    TABLE = ADMIN_TABLE
    CLIENT_ID = "penstock-admin"

    if TYPE_CHECKING:

        def __init__(
            self, configs: Mapping[str, object] | None = None, /, **keywords: Unpack[AdminKeywords]
        ) -> None: ...

        def replace(self, **keywords: Unpack[AdminKeywords]) -> Self: ...  # type: ignore[override]
