"""Certificates for tests, made with openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple


class Certificate(NamedTuple):
    authority: Path
    """The certificate alone, which is its own authority."""
    server: Path
    """The key and the certificate."""


def self_signed(
    directory: Path, name: str = "server", hosts: str = "DNS:localhost,IP:127.0.0.1"
) -> Certificate:
    """Good for two days."""
    key, authority, server = (directory / f"{name}.{suffix}" for suffix in ("key", "pem", "both.pem"))
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", f"/CN={name}", "-addext", f"subjectAltName={hosts}"),
            *("-keyout", key, "-out", authority),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    server.write_text(key.read_text() + authority.read_text())
    return Certificate(authority, server)
