"""librdkafka's own settings, passed on as they are; it checks their values itself."""

from collections.abc import Iterator

from penstock.client.config.setting import ClientSetting
from penstock.settings.kinds import Kind

ALIASES = {
    "metadata.broker.list": "bootstrap.servers",
    "message.max.bytes": "max.request.size",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
    "socket.send.buffer.bytes": "send.buffer.bytes",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
    "socket.timeout.ms": "request.timeout.ms",
    "ssl.ca.location": "ssl.truststore.location",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.oauthbearer.client.id": "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.secret": "sasl.oauthbearer.client.credentials.client.secret",
    "queue.buffering.max.ms": "linger.ms",
    "message.send.max.retries": "retries",
    "compression.codec": "compression.type",
    "request.required.acks": "acks",
    "message.timeout.ms": "delivery.timeout.ms",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
}
"""librdkafka's names for what has one of Kafka's too."""

_B, _I, _S, _F, _P = Kind.BOOLEAN, Kind.INT, Kind.STRING, Kind.DOUBLE, Kind.PASSWORD

_NATIVE: tuple[tuple[str, str, Kind, object, str], ...] = (
    ("debug", "PC", _S, None, "Parts of librdkafka that log in detail: broker, topic, msg, eos, cgrp, fetch, all ..."),
    ("log_level", "PC", _I, None, "What librdkafka logs, in syslog's levels: 6 for information, 7 with `debug`."),
    ("log.connection.close", "PC", _B, False, "Whether a connection that the broker closed is logged."),
    ("statistics.interval.ms", "PC", _I, None, "How often `stats_cb` is called; 0 for never."),
    ("broker.address.family", "PC", _S, None, "The addresses to use: any, v4 or v6."),
    ("broker.address.ttl", "PC", _I, None, "How long a resolved address is kept."),
    ("message.copy.max.bytes", "PC", _I, None, "Larger records are passed by reference instead of copied."),
    ("receive.message.max.bytes", "PC", _I, None, "The largest answer of a broker that is accepted."),
    ("socket.keepalive.enable", "PC", _B, None, "Whether TCP keeps idle connections alive."),
    ("socket.nagle.disable", "PC", _B, True, "Whether small requests go out at once."),
    ("socket.max.fails", "PC", _I, None, "Requests that may time out before a connection is closed."),
    ("topic.metadata.refresh.fast.interval.ms", "PC", _I, None, "How soon metadata is asked for without a leader."),
    ("topic.metadata.refresh.sparse", "PC", _B, None, "Whether metadata is asked for topics in use only."),
    ("topic.metadata.propagation.max.ms", "PC", _I, None, "How long a new topic may be unknown."),
    ("topic.blacklist", "PC", _S, None, "Patterns of topics that are treated as if they did not exist."),
    ("api.version.request.timeout.ms", "PC", _I, None, "How long a broker's list of APIs is waited for."),
    ("enable.random.seed", "PC", _B, None, "Whether librdkafka seeds its random numbers."),
    ("plugin.library.paths", "PC", _S, None, "Plugins of librdkafka to load."),
    ("enable.ssl.certificate.verification", "PCA", _B, None, "Whether brokers' certificates are verified at all."),
    ("ssl.certificate.location", "PCA", _S, None, "This client's certificate, a PEM file."),
    ("ssl.key.location", "PCA", _S, None, "Its key, a PEM file."),
    ("ssl.crl.location", "PC", _S, None, "A list of revoked certificates."),
    ("ssl.curves.list", "PC", _S, None, "The curves to offer, in OpenSSL's words."),
    ("ssl.sigalgs.list", "PC", _S, None, "The signature algorithms to offer, in OpenSSL's words."),
    ("ssl.providers", "PC", _S, None, "Providers of OpenSSL to load."),
    ("https.ca.location", "PC", _S, None, "Certificates for HTTPS endpoints that issue tokens."),
    ("https.ca.pem", "PC", _S, None, "The same as PEM text."),
    ("sasl.username", "PCA", _S, None, "The user of PLAIN and SCRAM."),
    ("sasl.password", "PCA", _P, None, "The user's password."),
    ("sasl.kerberos.principal", "PC", _S, None, "This client's Kerberos principal."),
    ("sasl.kerberos.keytab", "PC", _S, None, "Its key table."),
    ("sasl.kerberos.kinit.cmd", "PC", _S, None, "The command that gets a ticket."),
    ("sasl.kerberos.min.time.before.relogin", "PC", _I, None, "The shortest time between two tickets."),
    ("sasl.oauthbearer.method", "PC", _S, None, "default, or oidc for OpenID Connect."),
    ("sasl.oauthbearer.config", "PC", _S, None, "What `oauth_cb` is called with."),
    ("sasl.oauthbearer.extensions", "PC", _S, None, "What to tell the broker beside the token: name=value pairs."),
    ("sasl.oauthbearer.grant.type", "PC", _S, None, "How a token is asked for."),
    ("sasl.oauthbearer.sub.claim.name", "PC", _S, None, "The claim of a token that names the principal."),
    ("sasl.oauthbearer.assertion.algorithm", "PC", _S, None, "RS256 or ES256, for a signed assertion."),
    ("sasl.oauthbearer.assertion.private.key.file", "PC", _S, None, "The key that signs it, a PEM file."),
    ("sasl.oauthbearer.assertion.private.key.pem", "PC", _P, None, "The same as PEM text."),
    ("sasl.oauthbearer.assertion.private.key.passphrase", "PC", _P, None, "The password of that key."),
    ("sasl.oauthbearer.assertion.file", "PC", _S, None, "A file with an assertion that is there already."),
    ("sasl.oauthbearer.assertion.claim.aud", "PC", _S, None, "Its audience."),
    ("sasl.oauthbearer.assertion.claim.iss", "PC", _S, None, "Its issuer."),
    ("sasl.oauthbearer.assertion.claim.sub", "PC", _S, None, "Its subject."),
    ("sasl.oauthbearer.assertion.claim.exp.seconds", "PC", _I, None, "How long it is valid."),
    ("sasl.oauthbearer.assertion.claim.nbf.seconds", "PC", _I, None, "From how long ago on."),
    ("sasl.oauthbearer.assertion.claim.jti.include", "PC", _B, None, "Whether it carries an id."),
    ("sasl.oauthbearer.assertion.jwt.template.file", "PC", _S, None, "A file to make it from."),
    ("sasl.oauthbearer.metadata.authentication.type", "PC", _S, None, "none, azure_imds or aws_iam."),
    ("enable.sasl.oauthbearer.unsecure.jwt", "PC", _B, None, "Unsigned tokens, for tests only."),
    ("queue.buffering.max.messages", "P", _I, 100_000, "How many records may wait; 0 for no limit."),
    ("queue.buffering.max.kbytes", "P", _I, None, "Instead of buffer.memory, in kilobytes."),
    ("queue.buffering.backpressure.threshold", "P", _I, None, "Requests that wait before batches grow."),
    ("batch.num.messages", "P", _I, None, "How many records a batch has at most."),
    ("compression.level", "P", _I, None, "Instead of compression.gzip.level and so on: the level of the codec in use."),
    ("sticky.partitioning.linger.ms", "P", _I, None, "How long records without a key stick to one partition."),
    ("partitioner", "P", _S, None, "Instead of partitioner.class: a partitioner of librdkafka by name."),
    ("enable.gapless.guarantee", "P", _B, None, "Whether one failed record fails the producer."),
    ("coordinator.query.interval.ms", "C", _I, None, "How often the group's coordinator is asked for."),
    ("enable.auto.offset.store", "C", _B, None, "Whether a record counts as processed as soon as it is returned."),
    ("enable.partition.eof", "C", _B, None, "Whether the end of a partition is an event."),
    ("queued.min.messages", "C", _I, None, "How many records of a partition are fetched ahead."),
    ("queued.max.messages.kbytes", "C", _I, None, "How many kilobytes of all partitions are fetched ahead."),
    ("fetch.queue.backoff.ms", "C", _I, 10, "How long fetching pauses when that is reached."),
    ("fetch.error.backoff.ms", "C", _I, None, "How long fetching pauses after an error."),
)  # fmt: skip


def native_settings(client: str) -> Iterator[ClientSetting]:
    """Those of producers (P), consumers (C) or admin clients (A)."""
    for name, clients, kind, default, doc in _NATIVE:
        if client in clients:
            yield ClientSetting(name, kind, default, doc)


NATIVE_NAMES = frozenset(name for name, *_ in _NATIVE)
