"""The settings of the Schema Registry's client and serializers, in the names of Confluent's Java classes."""

from penstock.client.config.setting import ClientSetting, Native
from penstock.settings.kinds import Kind
from penstock.settings.takes import ANYTHING, NOT_EMPTY, Takes, at_least, between, exactly, one_of

INT_MAX = 2**31 - 1
_STRATEGY_WORDS = (
    "TopicNameStrategy, RecordNameStrategy, TopicRecordNameStrategy, "
    "or a function of topic, field and record name"
)
_STRATEGY_TYPE = "SubjectNameStrategySpec"
_ID_WORDS = "prefix, header, or the name of Confluent's class"
_ID_NAMES = ("prefix", "header", "PrefixSchemaIdSerializer", "HeaderSchemaIdSerializer")
_ID_PLACE = Takes(_ID_WORDS, lambda value: str(value).rpartition(".")[2] in _ID_NAMES)


def _setting(
    name: str,
    kind: Kind | None,
    default: object,
    doc: str,
    takes: Takes = ANYTHING,
    static_type: str = "",
    words: str = "",
) -> ClientSetting:
    return ClientSetting(name, kind, default, doc, takes, Native.NONE, static_type, words)


REGISTRY_CLIENT = (
    _setting(
        "schema.registry.url",
        Kind.LIST,
        None,
        "Where the Schema Registry is: http(s)://[user:password@]host:port, comma-separated. The next one is asked "
        "when one does not answer.",
        NOT_EMPTY,
    ),
    _setting(
        "basic.auth.credentials.source",
        Kind.STRING,
        "URL",
        "Where user and password come from: the registry's URL, basic.auth.user.info, or the login at the broker.",
        one_of("URL", "USER_INFO", "SASL_INHERIT"),
    ),
    _setting(
        "basic.auth.user.info", Kind.PASSWORD, None, "user:password for the registry, with source USER_INFO."
    ),
    _setting("bearer.auth.token", Kind.PASSWORD, None, "A token for the registry, in place of a password."),
    _setting(
        "schema.registry.ssl.truststore.location",
        Kind.STRING,
        None,
        "A PEM file with the certificates that the registry's must lead to; default: the system's.",
    ),
    _setting(
        "schema.registry.ssl.keystore.location",
        Kind.STRING,
        None,
        "A PEM file with this client's certificate and key, for a registry that asks for one.",
    ),
    _setting("schema.registry.ssl.key.password", Kind.PASSWORD, None, "The password of that key."),
    _setting(
        "schema.registry.ssl.endpoint.identification.algorithm",
        Kind.STRING,
        "https",
        "Whether the registry's certificate must be for its host name (https), or not (none, or empty).",
        one_of("https", "none", ""),
        static_type="str",
    ),
    _setting(
        "http.connect.timeout.ms",
        Kind.INT,
        10_000,
        "How long a connection to the registry may take.",
        between(1, INT_MAX),
    ),
    _setting(
        "http.read.timeout.ms",
        Kind.INT,
        60_000,
        "How long an answer of the registry is waited for.",
        between(1, INT_MAX),
    ),
    _setting(
        "max.retries",
        Kind.INT,
        3,
        "How often the registries are asked again when none of them answers.",
        between(0, 100),
    ),
    _setting("retries.wait.ms", Kind.INT, 1_000, "The wait before that; it doubles each time.", at_least(0)),
    _setting("retries.max.wait.ms", Kind.INT, 20_000, "The longest such wait.", at_least(0)),
    _setting(
        "max.schemas.per.subject",
        Kind.INT,
        1_000,
        "How many schemas of a subject are remembered.",
        at_least(1),
    ),
    _setting(
        "latest.cache.size", Kind.INT, 1_000, "Of how many subjects the latest version is.", at_least(1)
    ),
    _setting(
        "latest.cache.ttl.sec",
        Kind.INT,
        -1,
        "For how many seconds a latest version counts as the latest; -1 for ever.",
        at_least(0) | exactly(-1),
    ),
)

SERIALIZERS = (
    _setting(
        "auto.register.schemas",
        Kind.BOOLEAN,
        None,
        "Whether a schema that the registry lacks is registered. Default: true, unless another setting says which "
        "schema to use.",
    ),
    _setting(
        "use.schema.id",
        Kind.INT,
        -1,
        "Write with the schema of this id, whatever the subject's versions are; -1 for none.",
        at_least(0) | exactly(-1),
    ),
    _setting(
        "id.compatibility.strict",
        Kind.BOOLEAN,
        True,
        "Whether a record must fit the schema of use.schema.id whole; else what that does not have is left out.",
    ),
    _setting("use.latest.version", Kind.BOOLEAN, False, "Write with the latest version of the subject."),
    _setting(
        "use.latest.with.metadata",
        None,
        None,
        "Write with the latest version of the subject whose metadata has these properties.",
        static_type="Mapping[str, str] | str | None",
        words="a mapping, or name=value,name=value",
    ),
    _setting(
        "latest.compatibility.strict",
        Kind.BOOLEAN,
        True,
        "Whether a record must fit the latest version whole; else what that does not have is left out.",
    ),
    _setting(
        "normalize.schemas",
        Kind.BOOLEAN,
        False,
        "Whether schemas are brought into one form before they are registered and looked up.",
    ),
    _setting(
        "key.schema.id.serializer",
        Kind.STRING,
        "prefix",
        "Where the id of a key's schema goes: before its bytes, or into a header.",
        _ID_PLACE,
    ),
    _setting(
        "value.schema.id.serializer",
        Kind.STRING,
        "prefix",
        "Where the id of a value's schema goes: before its bytes, or into a header.",
        _ID_PLACE,
    ),
    _setting(
        "reference.subject.name.strategy",
        None,
        None,
        "The subjects of the files that a Protobuf file imports. Default: the names that they are imported by.",
        static_type="Callable[[str], str] | None",
        words="a function of the imported name",
    ),
)

SUBJECTS = (
    _setting(
        "key.subject.name.strategy",
        None,
        "TopicNameStrategy",
        "How the subject of keys is called.",
        static_type=_STRATEGY_TYPE,
        words=_STRATEGY_WORDS,
    ),
    _setting(
        "value.subject.name.strategy",
        None,
        "TopicNameStrategy",
        "How the subject of values is called.",
        static_type=_STRATEGY_TYPE,
        words=_STRATEGY_WORDS,
    ),
)

DESERIALIZERS = (
    _setting(
        "json.fail.invalid.schema",
        Kind.BOOLEAN,
        True,
        "Whether what does not fit its JSON Schema is refused. Confluent's classes do so only when told to.",
    ),
)

PRODUCER_REGISTRY = (*REGISTRY_CLIENT, *SUBJECTS, *SERIALIZERS, *DESERIALIZERS)
CONSUMER_REGISTRY = (*REGISTRY_CLIENT, *SUBJECTS, *DESERIALIZERS)
