"""The settings that producers, consumers and admin clients share: whom to talk to, how patiently, how securely."""

from penstock.client.config.setting import ClientSetting, Native
from penstock.settings.kinds import Kind
from penstock.settings.takes import NOT_EMPTY, at_least, between, one_of, one_of_any_case

MINUTE_MS = 60_000
INT_MAX = 2**31 - 1

CONNECTION = (
    ClientSetting(
        "bootstrap.servers",
        Kind.LIST,
        None,
        "Where to find the cluster at first: host:port, comma-separated. One that answers is enough.",
        NOT_EMPTY,
    ),
    ClientSetting(
        "client.id",
        Kind.STRING,
        "",
        "The name of this client in the broker's logs, metrics and quotas. Empty: penstock and the kind of client.",
    ),
    ClientSetting(
        "client.dns.lookup",
        Kind.STRING,
        "use_all_dns_ips",
        "Whether every address of a name is tried, or bootstrap names are resolved to canonical ones.",
        one_of("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    ),
    ClientSetting(
        "request.timeout.ms",
        Kind.INT,
        30_000,
        "How long an answer of the broker is waited for.",
        between(10, 300_000),
        "socket.timeout.ms",
    ),
    ClientSetting(
        "retry.backoff.ms",
        Kind.LONG,
        100,
        "The wait before a failed request is sent again; it doubles with each attempt.",
        between(1, 300_000),
    ),
    ClientSetting(
        "retry.backoff.max.ms",
        Kind.LONG,
        1_000,
        "The longest such wait.",
        between(1, 300_000),
    ),
    ClientSetting(
        "reconnect.backoff.ms",
        Kind.LONG,
        50,
        "The wait before a lost connection is opened again; it doubles with each attempt.",
        between(0, 3_600_000),
    ),
    ClientSetting(
        "reconnect.backoff.max.ms",
        Kind.LONG,
        1_000,
        "The longest such wait.",
        between(0, 3_600_000),
    ),
    ClientSetting(
        "socket.connection.setup.timeout.ms",
        Kind.LONG,
        10_000,
        "How long a connection may take until it can be used.",
        between(1_000, INT_MAX),
    ),
    ClientSetting(
        "connections.max.idle.ms",
        Kind.LONG,
        9 * MINUTE_MS,
        "A connection that was idle for so long is closed; 0 for never.",
        between(0, INT_MAX),
    ),
    ClientSetting(
        "metadata.max.age.ms",
        Kind.LONG,
        5 * MINUTE_MS,
        "How old metadata of topics may get before it is asked for again.",
        between(10, 3_600_000),
        "topic.metadata.refresh.interval.ms",
    ),
    ClientSetting(
        "metadata.recovery.strategy",
        Kind.STRING,
        "rebootstrap",
        "What to do when none of the known brokers answers: start again from bootstrap.servers, or not.",
        one_of("none", "rebootstrap"),
    ),
    ClientSetting(
        "metadata.recovery.rebootstrap.trigger.ms",
        Kind.LONG,
        5 * MINUTE_MS,
        "For how long no metadata may be had before that is done.",
        between(0, INT_MAX),
    ),
    ClientSetting(
        "send.buffer.bytes",
        Kind.INT,
        -1,
        "The socket's send buffer; -1 leaves it to the operating system.",
        between(-1, 100_000_000),
        "socket.send.buffer.bytes",
    ),
    ClientSetting(
        "receive.buffer.bytes",
        Kind.INT,
        -1,
        "The socket's receive buffer; -1 leaves it to the operating system.",
        between(-1, 100_000_000),
        "socket.receive.buffer.bytes",
    ),
    ClientSetting(
        "enable.metrics.push",
        Kind.BOOLEAN,
        True,
        "Whether metrics are sent to the cluster if it asks for them.",
    ),
)

CLIENT_RACK = ClientSetting(
    "client.rack",
    Kind.STRING,
    "",
    "Where this client stands, as broker.rack says it: records may be fetched from a replica that is near.",
)

DEFAULT_API_TIMEOUT = ClientSetting(
    "default.api.timeout.ms",
    Kind.INT,
    MINUTE_MS,
    "How long a call that asks the cluster may take, where it is given no timeout of its own.",
    at_least(0),
    Native.NONE,
)

SECURITY = (
    ClientSetting(
        "security.protocol",
        Kind.STRING,
        "PLAINTEXT",
        "Whether connections are encrypted (SSL) and authenticated (SASL).",
        one_of_any_case("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        static_type="str",
    ),
    ClientSetting(
        "ssl.truststore.location",
        Kind.STRING,
        None,
        "A PEM file with the certificates that brokers' certificates must lead to; default: the system's.",
        librdkafka="ssl.ca.location",
    ),
    ClientSetting(
        "ssl.truststore.certificates",
        Kind.STRING,
        None,
        "The same certificates as PEM text.",
        librdkafka="ssl.ca.pem",
    ),
    ClientSetting(
        "ssl.truststore.type",
        Kind.STRING,
        "PEM",
        "The format of ssl.truststore.location.",
        one_of("PEM"),
        Native.NONE,
    ),
    ClientSetting(
        "ssl.keystore.location",
        Kind.STRING,
        None,
        "This client's certificate and key: a PKCS#12 file, or a PEM file with both.",
    ),
    ClientSetting(
        "ssl.keystore.type",
        Kind.STRING,
        "PKCS12",
        "The format of ssl.keystore.location.",
        one_of("PKCS12", "PEM"),
        Native.NONE,
    ),
    ClientSetting("ssl.keystore.password", Kind.PASSWORD, None, "The password of a PKCS#12 file."),
    ClientSetting(
        "ssl.keystore.certificate.chain",
        Kind.STRING,
        None,
        "This client's certificate, and those between it and its authority, as PEM text.",
        librdkafka="ssl.certificate.pem",
    ),
    ClientSetting(
        "ssl.keystore.key",
        Kind.PASSWORD,
        None,
        "The key of that certificate as PEM text.",
        librdkafka="ssl.key.pem",
    ),
    ClientSetting("ssl.key.password", Kind.PASSWORD, None, "The password of the key."),
    ClientSetting(
        "ssl.endpoint.identification.algorithm",
        Kind.STRING,
        "https",
        "Whether a broker's certificate must be for its host name (https), or not (none, or empty).",
        one_of("https", "none", ""),
        static_type="str",
    ),
    ClientSetting("ssl.cipher.suites", Kind.STRING, None, "The cipher suites to offer, in OpenSSL's words."),
    ClientSetting(
        "sasl.mechanism",
        Kind.STRING,
        "GSSAPI",
        "How to authenticate: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI.",
        one_of("GSSAPI", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"),
    ),
    ClientSetting(
        "sasl.jaas.config",
        Kind.PASSWORD,
        None,
        'The login as Java clients have it: `...ScramLoginModule required username="u" password="p";`.',
        librdkafka=Native.NONE,
    ),
    ClientSetting(
        "sasl.kerberos.service.name", Kind.STRING, None, "The Kerberos principal name that brokers run as."
    ),
    ClientSetting(
        "sasl.oauthbearer.token.endpoint.url",
        Kind.STRING,
        None,
        "Where tokens are issued (OpenID Connect). Sets sasl.oauthbearer.method to oidc.",
    ),
    ClientSetting(
        "sasl.oauthbearer.client.credentials.client.id",
        Kind.STRING,
        None,
        "Who asks for a token there.",
    ),
    ClientSetting(
        "sasl.oauthbearer.client.credentials.client.secret",
        Kind.PASSWORD,
        None,
        "The secret of who asks.",
    ),
    ClientSetting("sasl.oauthbearer.scope", Kind.STRING, None, "The scope to ask for."),
)

CALLBACKS = (
    ClientSetting(
        "stats.cb",
        None,
        None,
        "Called with librdkafka's statistics as JSON text, every statistics.interval.ms.",
        librdkafka="stats_cb",
        static_type="Callable[[str], object] | None",
        words="a function of one text",
    ),
    ClientSetting(
        "oauth.cb",
        None,
        None,
        "Called with sasl.oauthbearer.config for a new token: returns it and when it expires.",
        librdkafka="oauth_cb",
        static_type="Callable[[str], tuple[str, float]] | None",
        words="a function of one text that returns a token and the time it expires",
    ),
)
