"""Names that Kafka's Java clients know and that have nothing to act on here: accepted with a warning."""

from collections.abc import Iterator

from penstock.client.config.setting import ClientSetting, Native

_METRICS = "Metrics of Java's client; `stats_cb` has librdkafka's."
_SECURITY_PROVIDERS = "OpenSSL does the cryptography."
_PARTITIONER = "Part of Java's partitioner only."

_WITHOUT_EFFECT: dict[str, tuple[str, str]] = {
    "auto.include.jmx.reporter": ("PCA", _METRICS),
    "metric.reporters": ("PCA", _METRICS),
    "metrics.num.samples": ("PCA", _METRICS),
    "metrics.recording.level": ("PCA", _METRICS),
    "metrics.sample.window.ms": ("PCA", _METRICS),
    "interceptor.classes": ("PC", "Java classes do not run here."),
    "config.providers": ("PCA", "Java classes do not run here."),
    "metadata.max.idle.ms": ("P", "Metadata of a topic that is not used goes by itself."),
    "socket.connection.setup.timeout.max.ms": ("PCA", "The wait for a connection does not grow."),
    "security.providers": ("PCA", _SECURITY_PROVIDERS),
    "ssl.protocol": ("PCA", _SECURITY_PROVIDERS),
    "ssl.enabled.protocols": ("PCA", _SECURITY_PROVIDERS),
    "ssl.provider": ("PCA", _SECURITY_PROVIDERS),
    "ssl.keymanager.algorithm": ("PCA", _SECURITY_PROVIDERS),
    "ssl.trustmanager.algorithm": ("PCA", _SECURITY_PROVIDERS),
    "ssl.secure.random.implementation": ("PCA", _SECURITY_PROVIDERS),
    "ssl.engine.factory.class": ("PCA", "Java classes do not run here."),
    "sasl.login.class": ("PCA", "Java classes do not run here."),
    "sasl.login.callback.handler.class": ("PCA", "Java classes do not run here; give `oauth_cb`."),
    "sasl.client.callback.handler.class": ("PCA", "Java classes do not run here; give `oauth_cb`."),
    "partitioner.adaptive.partitioning.enable": ("P", _PARTITIONER),
    "partitioner.availability.timeout.ms": ("P", _PARTITIONER),
    "transaction.two.phase.commit.enable": ("P", "librdkafka has no two-phase commit."),
}


def settings_without_effect(kind: str) -> Iterator[ClientSetting]:
    """Those of producers (P), consumers (C) or admin clients (A)."""
    for name, (kinds, why) in _WITHOUT_EFFECT.items():
        if kind in kinds:
            yield ClientSetting(
                name, None, None, why, librdkafka=Native.NONE, static_type="object", words="anything"
            )


def why_without_effect(name: str) -> str | None:
    """None for a setting that has an effect."""
    entry = _WITHOUT_EFFECT.get(name)
    return None if entry is None else entry[1]
