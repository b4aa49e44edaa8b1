"""How a client makes itself known: `security.protocol`, `ssl.*` and `sasl.*` of Kafka's client settings.

Only PEM files are read (`ssl.truststore.type=PEM`, or librdkafka's `ssl.ca.location` and so on): a Java key store
needs Java's own code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ConfigError
from penstock.settings.kinds import Password

if TYPE_CHECKING:
    import ssl

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_JAAS_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([^\s;]+))')


class Security(NamedTuple):
    protocol: str = "PLAINTEXT"
    mechanism: str = ""
    username: str = ""
    password: str = ""
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    key_password: str | None = None
    checks_host_name: bool = True

    @property
    def uses_tls(self) -> bool:
        return self.protocol.endswith("SSL")

    @property
    def uses_sasl(self) -> bool:
        return self.protocol.startswith("SASL")

    @classmethod
    def from_configs(cls, configs: Mapping[str, object]) -> Security:
        given = {key: _text(value) for key, value in configs.items() if value is not None}
        protocol = given.get("security.protocol", "PLAINTEXT").upper()
        if protocol not in PROTOCOLS:
            raise ConfigError(f"security.protocol: got {protocol!r}, takes {', '.join(PROTOCOLS)}")
        security = cls(protocol)
        if security.uses_tls:
            security = _with_tls(security, given)
        if security.uses_sasl:
            security = _with_sasl(security, given)
        return security

    def tls_context(self) -> ssl.SSLContext | None:
        if not self.uses_tls:
            return None
        import ssl

        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            context.check_hostname = self.checks_host_name
            if self.certificate_file:
                context.load_cert_chain(self.certificate_file, self.key_file, self.key_password)
        except OSError as error:
            raise ConfigError(f"ssl: cannot read the certificates: {error.strerror or error}") from error
        return context


def _text(value: object) -> str:
    return value.reveal() if isinstance(value, Password) else str(value)


def _with_tls(security: Security, given: Mapping[str, str]) -> Security:
    for store in ("truststore", "keystore"):
        kind = given.get(f"ssl.{store}.type", "PEM" if f"ssl.{store}.location" not in given else "JKS")
        if kind.upper() != "PEM":
            raise ConfigError(
                f"ssl.{store}.type: got {kind}, takes PEM; a Java key store can be turned into it"
            )
    return security._replace(
        ca_file=given.get("ssl.ca.location") or given.get("ssl.truststore.location"),
        certificate_file=given.get("ssl.certificate.location") or given.get("ssl.keystore.location"),
        key_file=given.get("ssl.key.location"),
        key_password=given.get("ssl.key.password"),
        checks_host_name=given.get("ssl.endpoint.identification.algorithm", "https").lower() == "https",
    )


def _with_sasl(security: Security, given: Mapping[str, str]) -> Security:
    mechanism = given.get("sasl.mechanism", given.get("sasl.mechanisms", "GSSAPI"))
    if mechanism not in MECHANISMS:
        raise ConfigError(f"sasl.mechanism: got {mechanism!r}, takes {', '.join(MECHANISMS)}")
    options = _jaas_options(given.get("sasl.jaas.config", ""))
    username = given.get("sasl.username", options.get("username"))
    password = given.get("sasl.password", options.get("password"))
    if username is None or password is None:
        raise ConfigError(
            "sasl.jaas.config: has no username and password; give a login module with both, "
            "or sasl.username and sasl.password"
        )
    return security._replace(mechanism=mechanism, username=username, password=password)


def _jaas_options(text: str) -> dict[str, str]:
    """`username` and so on of `org...PlainLoginModule required username="x" password="y";`."""
    found = {}
    for match in _JAAS_OPTION.finditer(text):
        quoted, single, bare = match.group(2, 3, 4)
        found[match[1]] = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else single or bare or ""
    return found
