"""TLS from PEM files: for those who connect to a service, and for a service that connects to its like."""

import ssl
from typing import NamedTuple

from penstock.errors import ConfigError


class TlsFiles(NamedTuple):
    own: str | None = None
    """Key and certificate chain."""
    key_password: str | None = None
    trusted: str | None = None
    """The authorities; the system's if there are none."""
    asks_for_certificates: bool = False
    requires_certificates: bool = False
    checks_host_name: bool = True

    def server_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        self._load_own(context)
        if self.asks_for_certificates:
            context.verify_mode = ssl.CERT_REQUIRED if self.requires_certificates else ssl.CERT_OPTIONAL
            self._load_trusted(context, ssl.Purpose.CLIENT_AUTH)
        return context

    def client_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.check_hostname = self.checks_host_name
        if self.own is not None:
            self._load_own(context)
        self._load_trusted(context, ssl.Purpose.SERVER_AUTH)
        return context

    def _load_own(self, context: ssl.SSLContext) -> None:
        assert self.own is not None
        try:
            context.load_cert_chain(self.own, password=self.key_password or "")
        except ssl.SSLError as error:
            raise ConfigError(
                f"ssl.keystore.location: {self.own} is no PEM file with a key and its certificates, "
                f"or ssl.key.password does not fit ({error.reason or error})"
            ) from None
        except OSError as error:
            raise ConfigError(f"ssl.keystore.location: {self.own}: {error.strerror or error}") from None

    def _load_trusted(self, context: ssl.SSLContext, purpose: ssl.Purpose) -> None:
        if self.trusted is None:
            context.load_default_certs(purpose)
            return
        try:
            context.load_verify_locations(self.trusted)
        except ssl.SSLError as error:
            reason = error.reason or error
            raise ConfigError(
                f"ssl.truststore.location: {self.trusted} is no PEM file of certificates ({reason})"
            ) from None
        except OSError as error:
            raise ConfigError(f"ssl.truststore.location: {self.trusted}: {error.strerror or error}") from None
