"""What all HTTP services can be set to alike, in the names of Confluent's: TLS, and who may come in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import ConfigError
from penstock.settings.declare import HIGH, LOW, boolean, integer, items, password, string
from penstock.settings.kinds import Password
from penstock.settings.table import table_of
from penstock.settings.takes import at_least, one_of, one_of_any_case
from penstock.web.authentication import ANY_ROLE, Authentication, read_users
from penstock.web.listeners import HTTPS, Listener
from penstock.web.protocol import HeadLimits
from penstock.web.tls import TlsFiles

CLIENT_CERTIFICATES = ("NONE", "REQUESTED", "REQUIRED")


@dataclass(frozen=True)
class WebSettings:
    ssl_keystore_location: str | None = string(
        None, "For https: a PEM file with the key and the certificate chain.", importance=HIGH
    )
    ssl_keystore_type: str = string("PEM", "The format of ssl.keystore.location.", one_of("PEM"))
    ssl_key_password: Password | None = password(  # noqa: RUF009
        None, "The password of the key.", importance=HIGH
    )
    ssl_truststore_location: str | None = string(
        None, "A PEM file with the authorities that certificates of others are checked by.", importance=HIGH
    )
    ssl_truststore_type: str = string("PEM", "The format of ssl.truststore.location.", one_of("PEM"))
    ssl_client_authentication: str = string(
        "NONE",
        "Whether clients have to show a certificate.",
        one_of_any_case(*CLIENT_CERTIFICATES),
    )
    ssl_client_auth: bool = boolean(
        False, "The older name of ssl.client.authentication=REQUIRED.", importance=LOW
    )
    ssl_endpoint_identification_algorithm: str = string(
        "https", "Whether the names in the certificates of others are checked: https, or empty for no."
    )
    authentication_method: str = string(
        "NONE", "Whether clients have to say who they are.", one_of_any_case("NONE", "BASIC"), importance=HIGH
    )
    authentication_users_location: str | None = string(
        None,
        "For BASIC: a file of lines `name: password[,role...]`; for a password also `SHA256:` and its digest in hex.",
        importance=HIGH,
    )
    authentication_realm: str = string("", "The name of what the password is for, which browsers show.")
    authentication_roles: tuple[str, ...] = items((ANY_ROLE,), "A user has to have one of these; * for none.")
    authentication_skip_paths: tuple[str, ...] = items(
        (), "Paths that anybody may ask for; /a/* is all below /a."
    )

    max_request_header_size: int = integer(
        64 * 1024,
        "Bytes of a request's line and headers; more are refused with 431.",
        at_least(1),
        importance=LOW,
    )
    request_header_timeout_ms: int = integer(
        30_000,
        "How long a request's line and headers may take to come; 408 after that.",
        at_least(1),
        importance=LOW,
    )
    request_body_timeout_ms: int = integer(
        30_000,
        "How long a request's body may take to come, and a second more for each 10 KB of it; 408 after that.",
        at_least(1),
        importance=LOW,
    )

    @classmethod
    def from_configs(
        cls, configs: Mapping[str, str], listeners: list[Listener], where: str = ""
    ) -> "WebSettings":
        """`ConfigError` if the listeners cannot be served so."""
        values: dict[str, Any] = {
            one.attribute: one.parse(configs[name], where)
            for name, one in WEB_TABLE.items()
            if name in configs
        }
        settings = cls(**values)
        settings._check(listeners)
        return settings

    def _check(self, listeners: list[Listener]) -> None:
        if any(each.scheme == HTTPS for each in listeners):
            if self.ssl_keystore_location is None:
                raise ConfigError("ssl.keystore.location: missing; a listener of https needs a PEM file")
            self.tls_files.server_context()
        if self._has_users and self.authentication_users_location is None:
            raise ConfigError("authentication.users.location: missing; authentication.method is BASIC")
        assert self._has_users == (self.authentication is not None)

    @property
    def tls_files(self) -> TlsFiles:
        asks = "REQUIRED" if self.ssl_client_auth else self.ssl_client_authentication.upper()
        return TlsFiles(
            own=self.ssl_keystore_location,
            key_password=None if self.ssl_key_password is None else self.ssl_key_password.reveal(),
            trusted=self.ssl_truststore_location,
            asks_for_certificates=asks != "NONE",
            requires_certificates=asks == "REQUIRED",
            checks_host_name=bool(self.ssl_endpoint_identification_algorithm),
        )

    @property
    def head_limits(self) -> HeadLimits:
        return HeadLimits(self.max_request_header_size, self.request_header_timeout_ms)

    @property
    def _has_users(self) -> bool:
        return self.authentication_method.upper() == "BASIC"

    @property
    def authentication(self) -> Authentication | None:
        """None if everybody may come in. The file is read anew each time."""
        if not self._has_users or self.authentication_users_location is None:
            return None
        return Authentication(
            read_users(self.authentication_users_location),
            self.authentication_realm,
            frozenset(self.authentication_roles),
            self.authentication_skip_paths,
        )


WEB_TABLE = table_of(WebSettings)
