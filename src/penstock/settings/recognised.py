"""Settings that Kafka 3.9 or 4.3 knows and the broker does not act on.

A server.properties made for Kafka starts the broker without complaint about them; a value of the wrong type
still stops it. A row is name, type, who may change it (`internal` for what Kafka does not show), default; `-`
stands for no default.
"""

# ruff: noqa: E501
from collections.abc import Iterator

from penstock.settings import kinds
from penstock.settings.kinds import Kind
from penstock.settings.table import Effect, Importance, Scope, Setting, Table

_SECURITY = """
authorizer.class.name string read-only
connections.max.reauth.ms long read-only 0
delegation.token.expiry.check.interval.ms long read-only 3600000
delegation.token.expiry.time.ms long read-only 86400000
delegation.token.master.key password read-only -
delegation.token.max.lifetime.ms long read-only 604800000
delegation.token.secret.key password read-only -
password.encoder.cipher.algorithm string read-only AES/CBC/PKCS5Padding
password.encoder.iterations int read-only 4096
password.encoder.key.length int read-only 128
password.encoder.keyfactory.algorithm string read-only -
password.encoder.old.secret password read-only -
password.encoder.secret password read-only -
principal.builder.class class per-broker org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder
sasl.client.callback.handler.class class read-only -
sasl.enabled.mechanisms list per-broker GSSAPI
sasl.jaas.config password per-broker -
sasl.kerberos.kinit.cmd string per-broker /usr/bin/kinit
sasl.kerberos.min.time.before.relogin long per-broker 60000
sasl.kerberos.principal.to.local.rules list per-broker DEFAULT
sasl.kerberos.service.name string per-broker -
sasl.kerberos.ticket.renew.jitter double per-broker 0.05
sasl.kerberos.ticket.renew.window.factor double per-broker 0.8
sasl.login.callback.handler.class class read-only -
sasl.login.class class read-only -
sasl.login.connect.timeout.ms int read-only -
sasl.login.read.timeout.ms int read-only -
sasl.login.refresh.buffer.seconds short per-broker 300
sasl.login.refresh.min.period.seconds short per-broker 60
sasl.login.refresh.window.factor double per-broker 0.8
sasl.login.refresh.window.jitter double per-broker 0.05
sasl.login.retry.backoff.max.ms long read-only 10000
sasl.login.retry.backoff.ms long read-only 100
sasl.mechanism.controller.protocol string read-only GSSAPI
sasl.mechanism.inter.broker.protocol string per-broker GSSAPI
sasl.oauthbearer.assertion.algorithm string read-only RS256
sasl.oauthbearer.assertion.claim.aud string read-only -
sasl.oauthbearer.assertion.claim.exp.seconds int read-only 300
sasl.oauthbearer.assertion.claim.iss string read-only -
sasl.oauthbearer.assertion.claim.jti.include boolean read-only false
sasl.oauthbearer.assertion.claim.nbf.seconds int read-only 60
sasl.oauthbearer.assertion.claim.sub string read-only -
sasl.oauthbearer.assertion.file string read-only -
sasl.oauthbearer.assertion.private.key.file string read-only -
sasl.oauthbearer.assertion.private.key.passphrase password read-only -
sasl.oauthbearer.assertion.template.file string read-only -
sasl.oauthbearer.client.credentials.client.id string read-only -
sasl.oauthbearer.client.credentials.client.secret password read-only -
sasl.oauthbearer.clock.skew.seconds int read-only 30
sasl.oauthbearer.expected.audience list read-only
sasl.oauthbearer.expected.issuer string read-only -
sasl.oauthbearer.jwks.endpoint.refresh.ms long read-only 3600000
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms long read-only 10000
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms long read-only 100
sasl.oauthbearer.jwks.endpoint.url string read-only -
sasl.oauthbearer.jwt.retriever.class class read-only org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever
sasl.oauthbearer.jwt.validator.class class read-only org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator
sasl.oauthbearer.scope string read-only -
sasl.oauthbearer.scope.claim.name string read-only scope
sasl.oauthbearer.sub.claim.name string read-only sub
sasl.oauthbearer.token.endpoint.url string read-only -
sasl.server.callback.handler.class class read-only -
sasl.server.max.receive.size int read-only 524288
security.providers string read-only -
ssl.allow.dn.changes boolean read-only false
ssl.allow.san.changes boolean read-only false
ssl.cipher.suites list per-broker
ssl.client.auth string per-broker none
ssl.enabled.protocols list per-broker TLSv1.2,TLSv1.3
ssl.endpoint.identification.algorithm string per-broker https
ssl.engine.factory.class class per-broker -
ssl.key.password password per-broker -
ssl.keymanager.algorithm string per-broker SunX509
ssl.keystore.certificate.chain password per-broker -
ssl.keystore.key password per-broker -
ssl.keystore.location string per-broker -
ssl.keystore.password password per-broker -
ssl.keystore.type string per-broker JKS
ssl.principal.mapping.rules string read-only DEFAULT
ssl.protocol string per-broker TLSv1.3
ssl.provider string per-broker -
ssl.secure.random.implementation string per-broker -
ssl.trustmanager.algorithm string per-broker PKIX
ssl.truststore.certificates password per-broker -
ssl.truststore.location string per-broker -
ssl.truststore.password password per-broker -
ssl.truststore.type string per-broker JKS
"""

_METRICS = """
auto.include.jmx.reporter boolean read-only true
kafka.metrics.polling.interval.secs int read-only 10
kafka.metrics.reporters list read-only
metric.reporters list cluster-wide org.apache.kafka.common.metrics.JmxReporter
metrics.num.samples int read-only 2
metrics.recording.level string read-only INFO
metrics.sample.window.ms long read-only 30000
telemetry.max.bytes int read-only 1048576
"""

_ZOOKEEPER = """
zookeeper.clientCnxnSocket string read-only -
zookeeper.metadata.migration.enable boolean read-only false
zookeeper.metadata.migration.min.batch.size int internal 200
zookeeper.ssl.cipher.suites list read-only -
zookeeper.ssl.client.enable boolean read-only false
zookeeper.ssl.crl.enable boolean read-only false
zookeeper.ssl.enabled.protocols list read-only -
zookeeper.ssl.endpoint.identification.algorithm string read-only HTTPS
zookeeper.ssl.keystore.location string read-only -
zookeeper.ssl.keystore.password password read-only -
zookeeper.ssl.keystore.type string read-only -
zookeeper.ssl.ocsp.enable boolean read-only false
zookeeper.ssl.protocol string read-only TLSv1.2
zookeeper.ssl.truststore.location string read-only -
zookeeper.ssl.truststore.password password read-only -
zookeeper.ssl.truststore.type string read-only -
"""

_TIERED = """
follower.fetch.last.tiered.offset.enable boolean cluster-wide false
remote.fetch.max.wait.ms int cluster-wide 500
remote.list.offsets.request.timeout.ms long cluster-wide 30000
remote.log.index.file.cache.total.size.bytes long cluster-wide 1073741824
remote.log.index.file.cache.ttl.ms long internal 900000
remote.log.manager.copier.thread.pool.size int cluster-wide 10
remote.log.manager.copy.max.bytes.per.second long cluster-wide 9223372036854775807
remote.log.manager.copy.quota.window.num int read-only 11
remote.log.manager.copy.quota.window.size.seconds int read-only 1
remote.log.manager.expiration.thread.pool.size int cluster-wide 10
remote.log.manager.fetch.max.bytes.per.second long cluster-wide 9223372036854775807
remote.log.manager.fetch.quota.window.num int read-only 11
remote.log.manager.fetch.quota.window.size.seconds int read-only 1
remote.log.manager.follower.thread.pool.size int cluster-wide 2
remote.log.manager.task.interval.ms long read-only 30000
remote.log.manager.task.retry.backoff.max.ms long internal 30000
remote.log.manager.task.retry.backoff.ms long internal 500
remote.log.manager.task.retry.jitter double internal 0.2
remote.log.manager.thread.pool.size int read-only 2
remote.log.metadata.custom.metadata.max.bytes int read-only 128
remote.log.metadata.manager.class.name string read-only org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager
remote.log.metadata.manager.class.path string read-only -
remote.log.metadata.manager.impl.prefix string read-only rlmm.config.
remote.log.metadata.manager.listener.name string read-only -
remote.log.reader.max.pending.tasks int read-only 100
remote.log.reader.threads int cluster-wide 10
remote.log.storage.manager.class.name string read-only -
remote.log.storage.manager.class.path string read-only -
remote.log.storage.manager.impl.prefix string read-only rsm.config.
remote.log.storage.system.enable boolean read-only false
"""

_KRAFT = """
broker.heartbeat.interval.ms int read-only 2000
broker.session.timeout.ms int read-only 9000
controller.performance.always.log.threshold.ms long internal 2000
controller.performance.sample.period.ms long internal 60000
controller.quorum.append.linger.ms int read-only 25
controller.quorum.auto.join.enable boolean read-only false
controller.quorum.bootstrap.servers list read-only
controller.quorum.election.backoff.max.ms int read-only 1000
controller.quorum.election.timeout.ms int read-only 1000
controller.quorum.fetch.max.bytes int read-only 1048576
controller.quorum.fetch.snapshot.max.bytes int read-only 1048576
controller.quorum.fetch.timeout.ms int read-only 2000
controller.quorum.request.timeout.ms int read-only 2000
controller.quorum.retry.backoff.ms int read-only 20
controller.quorum.voters list read-only
early.start.listeners list read-only -
initial.broker.registration.timeout.ms int read-only 60000
internal.metadata.delete.delay.millis long internal 60000
internal.metadata.log.segment.bytes int internal -
internal.metadata.max.batch.size.in.bytes int internal 8388608
metadata.log.dir string read-only -
metadata.log.max.record.bytes.between.snapshots long read-only 20971520
metadata.log.max.snapshot.interval.ms long read-only 3600000
metadata.log.segment.bytes int read-only 1073741824
metadata.log.segment.min.bytes int internal 8388608
metadata.log.segment.ms long read-only 604800000
metadata.max.idle.interval.ms int read-only 500
metadata.max.retention.bytes long read-only 104857600
metadata.max.retention.ms long read-only 604800000
process.roles list read-only -
server.max.startup.time.ms long internal 9223372036854775807
unstable.api.versions.enable boolean internal false
unstable.feature.versions.enable boolean internal false
"""

_OTHER = """
config.providers list cluster-wide
control.plane.listener.name string read-only -
eligible.leader.replicas.enable boolean read-only false
group.coordinator.new.enable boolean internal false
group.share.enable boolean internal false
group.share.max.groups short read-only 10
group.share.persister.class.name string internal org.apache.kafka.server.share.persister.DefaultStatePersister
inter.broker.protocol.version string read-only 3.9-IV0
log.message.downconversion.enable boolean read-only true
log.message.format.version string read-only 3.0-IV1
log.message.timestamp.difference.max.ms long read-only 9223372036854775807
"""

_GROUPS = (
    (
        "Security (TLS, SASL, ACLs, delegation tokens): not there yet; a listener other than PLAINTEXT is refused.",
        Effect.LATER,
        _SECURITY,
    ),
    ("Metrics: reporters in Java have no effect, the rest is not there yet.", Effect.LATER, _METRICS),
    ("TLS to ZooKeeper and the migration from ZooKeeper: not there.", Effect.LATER, _ZOOKEEPER),
    ("Tiered storage: there is none.", Effect.NO_EFFECT, _TIERED),
    ("KRaft: ZooKeeper coordinates, there is no quorum of controllers.", Effect.NO_EFFECT, _KRAFT),
    (
        "Switches of Kafka versions before 4.3, and plugins in Java: without meaning here.",
        Effect.NO_EFFECT,
        _OTHER,
    ),
)

# Settings of plugins, and of one listener: anything may follow.
RECOGNISED_PREFIXES = (
    "listener.name.",
    "config.providers.",
    "rsm.config.",
    "rlmm.config.",
)


def _setting(row: str, doc: str, effect: Effect) -> Setting:
    name, kind_name, scope, *rest = row.split(" ")
    kind = Kind[kind_name.upper()]
    text = " ".join(rest)
    default = None if text == "-" else kinds.parse(kind, text)
    internal = scope == "internal"
    return Setting(
        name,
        kind,
        default,
        doc,
        scope=Scope.READ_ONLY if internal else Scope(scope),
        importance=Importance.LOW,
        effect=effect,
        internal=internal,
    )


def _settings() -> Iterator[Setting]:
    for doc, effect, rows in _GROUPS:
        yield from (_setting(row, doc, effect) for row in rows.strip().splitlines())


RECOGNISED_TABLE = Table(_settings())
