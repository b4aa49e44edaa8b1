"""Kafka Connect itself, from Maven: to run beside ours, and to judge our converters and transforms."""

from __future__ import annotations

from tests.support.apache_kafka import ROOT, VERSION
from tests.support.maven import Jars

ARTIFACTS = (
    "connect-api",
    "connect-file",
    "connect-json",
    "connect-mirror",
    "connect-mirror-client",
    "connect-runtime",
    "connect-transforms",
)
LOGGING = (
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
    ("org.apache.logging.log4j", "log4j-core", "2.25.4"),
)
JARS = Jars(
    ROOT / ".toolchains" / f"apache-connect-{VERSION}",
    "apache-connect",
    tuple(("org.apache.kafka", artifact, VERSION) for artifact in ARTIFACTS) + LOGGING,
)
