"""Generated from the table of settings by `make generate`: what type checkers and editors see of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from penstock.client.producer.partitioners import PartitionerSpec
    from penstock.client.records import DeliveryCallback
    from penstock.client.registry.subjects import SubjectNameStrategySpec
    from penstock.client.serializers import SerializerSpec


class ProducerKeywords(TypedDict, total=False):
    bootstrap_servers: str | Sequence[str]
    client_id: str
    client_dns_lookup: Literal["use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"]
    request_timeout_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    reconnect_backoff_ms: int
    reconnect_backoff_max_ms: int
    socket_connection_setup_timeout_ms: int
    connections_max_idle_ms: int
    metadata_max_age_ms: int
    metadata_recovery_strategy: Literal["none", "rebootstrap"]
    metadata_recovery_rebootstrap_trigger_ms: int
    send_buffer_bytes: int
    receive_buffer_bytes: int
    enable_metrics_push: bool
    key_serializer: "SerializerSpec"
    value_serializer: "SerializerSpec"
    acks: Literal["all", "-1", "0", "1", -1, 0, 1]
    enable_idempotence: bool
    linger_ms: float
    batch_size: int
    compression_type: Literal["none", "gzip", "snappy", "lz4", "zstd"]
    compression_gzip_level: int
    compression_lz4_level: int
    compression_zstd_level: int
    buffer_memory: int
    max_block_ms: int
    delivery_timeout_ms: int
    retries: int
    max_in_flight_requests_per_connection: int
    max_request_size: int
    partitioner_class: "PartitionerSpec"
    partitioner_ignore_keys: bool
    transactional_id: str
    transaction_timeout_ms: int
    on_delivery: "DeliveryCallback | None"
    security_protocol: str
    ssl_truststore_location: str
    ssl_truststore_certificates: str
    ssl_truststore_type: Literal["PEM"]
    ssl_keystore_location: str
    ssl_keystore_type: Literal["PKCS12", "PEM"]
    ssl_keystore_password: str
    ssl_keystore_certificate_chain: str
    ssl_keystore_key: str
    ssl_key_password: str
    ssl_endpoint_identification_algorithm: str
    ssl_cipher_suites: str
    sasl_mechanism: Literal["GSSAPI", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
    sasl_jaas_config: str
    sasl_kerberos_service_name: str
    sasl_oauthbearer_token_endpoint_url: str
    sasl_oauthbearer_client_credentials_client_id: str
    sasl_oauthbearer_client_credentials_client_secret: str
    sasl_oauthbearer_scope: str
    stats_cb: Callable[[str], object] | None
    oauth_cb: Callable[[str], tuple[str, float]] | None
    debug: str
    log_level: int
    log_connection_close: bool
    statistics_interval_ms: int
    broker_address_family: str
    broker_address_ttl: int
    message_copy_max_bytes: int
    receive_message_max_bytes: int
    socket_keepalive_enable: bool
    socket_nagle_disable: bool
    socket_max_fails: int
    topic_metadata_refresh_fast_interval_ms: int
    topic_metadata_refresh_sparse: bool
    topic_metadata_propagation_max_ms: int
    topic_blacklist: str
    api_version_request_timeout_ms: int
    enable_random_seed: bool
    plugin_library_paths: str
    enable_ssl_certificate_verification: bool
    ssl_certificate_location: str
    ssl_key_location: str
    ssl_crl_location: str
    ssl_curves_list: str
    ssl_sigalgs_list: str
    ssl_providers: str
    https_ca_location: str
    https_ca_pem: str
    sasl_username: str
    sasl_password: str
    sasl_kerberos_principal: str
    sasl_kerberos_keytab: str
    sasl_kerberos_kinit_cmd: str
    sasl_kerberos_min_time_before_relogin: int
    sasl_oauthbearer_method: str
    sasl_oauthbearer_config: str
    sasl_oauthbearer_extensions: str
    sasl_oauthbearer_grant_type: str
    sasl_oauthbearer_sub_claim_name: str
    sasl_oauthbearer_assertion_algorithm: str
    sasl_oauthbearer_assertion_private_key_file: str
    sasl_oauthbearer_assertion_private_key_pem: str
    sasl_oauthbearer_assertion_private_key_passphrase: str
    sasl_oauthbearer_assertion_file: str
    sasl_oauthbearer_assertion_claim_aud: str
    sasl_oauthbearer_assertion_claim_iss: str
    sasl_oauthbearer_assertion_claim_sub: str
    sasl_oauthbearer_assertion_claim_exp_seconds: int
    sasl_oauthbearer_assertion_claim_nbf_seconds: int
    sasl_oauthbearer_assertion_claim_jti_include: bool
    sasl_oauthbearer_assertion_jwt_template_file: str
    sasl_oauthbearer_metadata_authentication_type: str
    enable_sasl_oauthbearer_unsecure_jwt: bool
    queue_buffering_max_messages: int
    queue_buffering_max_kbytes: int
    queue_buffering_backpressure_threshold: int
    batch_num_messages: int
    compression_level: int
    sticky_partitioning_linger_ms: int
    partitioner: str
    enable_gapless_guarantee: bool
    schema_registry_url: str | Sequence[str]
    basic_auth_credentials_source: Literal["URL", "USER_INFO", "SASL_INHERIT"]
    basic_auth_user_info: str
    bearer_auth_token: str
    schema_registry_ssl_truststore_location: str
    schema_registry_ssl_keystore_location: str
    schema_registry_ssl_key_password: str
    schema_registry_ssl_endpoint_identification_algorithm: str
    http_connect_timeout_ms: int
    http_read_timeout_ms: int
    max_retries: int
    retries_wait_ms: int
    retries_max_wait_ms: int
    max_schemas_per_subject: int
    latest_cache_size: int
    latest_cache_ttl_sec: int
    key_subject_name_strategy: "SubjectNameStrategySpec"
    value_subject_name_strategy: "SubjectNameStrategySpec"
    auto_register_schemas: bool
    use_schema_id: int
    id_compatibility_strict: bool
    use_latest_version: bool
    use_latest_with_metadata: Mapping[str, str] | str | None
    latest_compatibility_strict: bool
    normalize_schemas: bool
    key_schema_id_serializer: str
    value_schema_id_serializer: str
    reference_subject_name_strategy: Callable[[str], str] | None
    json_fail_invalid_schema: bool
    auto_include_jmx_reporter: object
    metric_reporters: object
    metrics_num_samples: object
    metrics_recording_level: object
    metrics_sample_window_ms: object
    interceptor_classes: object
    config_providers: object
    metadata_max_idle_ms: object
    socket_connection_setup_timeout_max_ms: object
    security_providers: object
    ssl_protocol: object
    ssl_enabled_protocols: object
    ssl_provider: object
    ssl_keymanager_algorithm: object
    ssl_trustmanager_algorithm: object
    ssl_secure_random_implementation: object
    ssl_engine_factory_class: object
    sasl_login_class: object
    sasl_login_callback_handler_class: object
    sasl_client_callback_handler_class: object
    partitioner_adaptive_partitioning_enable: object
    partitioner_availability_timeout_ms: object
    transaction_two_phase_commit_enable: object


class ProducerAttributes:
    bootstrap_servers: tuple[str, ...]
    client_id: str
    client_dns_lookup: Literal["use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"]
    request_timeout_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    reconnect_backoff_ms: int
    reconnect_backoff_max_ms: int
    socket_connection_setup_timeout_ms: int
    connections_max_idle_ms: int
    metadata_max_age_ms: int
    metadata_recovery_strategy: Literal["none", "rebootstrap"]
    metadata_recovery_rebootstrap_trigger_ms: int
    send_buffer_bytes: int
    receive_buffer_bytes: int
    enable_metrics_push: bool
    key_serializer: "SerializerSpec | None"
    value_serializer: "SerializerSpec | None"
    acks: str
    enable_idempotence: bool
    linger_ms: float
    batch_size: int
    compression_type: Literal["none", "gzip", "snappy", "lz4", "zstd"]
    compression_gzip_level: int
    compression_lz4_level: int
    compression_zstd_level: int
    buffer_memory: int
    max_block_ms: int
    delivery_timeout_ms: int
    retries: int
    max_in_flight_requests_per_connection: int
    max_request_size: int
    partitioner_class: "PartitionerSpec | None"
    partitioner_ignore_keys: bool
    transactional_id: str | None
    transaction_timeout_ms: int
    on_delivery: "DeliveryCallback | None"
    security_protocol: str
    ssl_truststore_location: str | None
    ssl_truststore_certificates: str | None
    ssl_truststore_type: Literal["PEM"]
    ssl_keystore_location: str | None
    ssl_keystore_type: Literal["PKCS12", "PEM"]
    ssl_keystore_password: str | None
    ssl_keystore_certificate_chain: str | None
    ssl_keystore_key: str | None
    ssl_key_password: str | None
    ssl_endpoint_identification_algorithm: str
    ssl_cipher_suites: str | None
    sasl_mechanism: Literal["GSSAPI", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
    sasl_jaas_config: str | None
    sasl_kerberos_service_name: str | None
    sasl_oauthbearer_token_endpoint_url: str | None
    sasl_oauthbearer_client_credentials_client_id: str | None
    sasl_oauthbearer_client_credentials_client_secret: str | None
    sasl_oauthbearer_scope: str | None
    stats_cb: Callable[[str], object] | None
    oauth_cb: Callable[[str], tuple[str, float]] | None
    debug: str | None
    log_level: int | None
    log_connection_close: bool
    statistics_interval_ms: int | None
    broker_address_family: str | None
    broker_address_ttl: int | None
    message_copy_max_bytes: int | None
    receive_message_max_bytes: int | None
    socket_keepalive_enable: bool | None
    socket_nagle_disable: bool
    socket_max_fails: int | None
    topic_metadata_refresh_fast_interval_ms: int | None
    topic_metadata_refresh_sparse: bool | None
    topic_metadata_propagation_max_ms: int | None
    topic_blacklist: str | None
    api_version_request_timeout_ms: int | None
    enable_random_seed: bool | None
    plugin_library_paths: str | None
    enable_ssl_certificate_verification: bool | None
    ssl_certificate_location: str | None
    ssl_key_location: str | None
    ssl_crl_location: str | None
    ssl_curves_list: str | None
    ssl_sigalgs_list: str | None
    ssl_providers: str | None
    https_ca_location: str | None
    https_ca_pem: str | None
    sasl_username: str | None
    sasl_password: str | None
    sasl_kerberos_principal: str | None
    sasl_kerberos_keytab: str | None
    sasl_kerberos_kinit_cmd: str | None
    sasl_kerberos_min_time_before_relogin: int | None
    sasl_oauthbearer_method: str | None
    sasl_oauthbearer_config: str | None
    sasl_oauthbearer_extensions: str | None
    sasl_oauthbearer_grant_type: str | None
    sasl_oauthbearer_sub_claim_name: str | None
    sasl_oauthbearer_assertion_algorithm: str | None
    sasl_oauthbearer_assertion_private_key_file: str | None
    sasl_oauthbearer_assertion_private_key_pem: str | None
    sasl_oauthbearer_assertion_private_key_passphrase: str | None
    sasl_oauthbearer_assertion_file: str | None
    sasl_oauthbearer_assertion_claim_aud: str | None
    sasl_oauthbearer_assertion_claim_iss: str | None
    sasl_oauthbearer_assertion_claim_sub: str | None
    sasl_oauthbearer_assertion_claim_exp_seconds: int | None
    sasl_oauthbearer_assertion_claim_nbf_seconds: int | None
    sasl_oauthbearer_assertion_claim_jti_include: bool | None
    sasl_oauthbearer_assertion_jwt_template_file: str | None
    sasl_oauthbearer_metadata_authentication_type: str | None
    enable_sasl_oauthbearer_unsecure_jwt: bool | None
    queue_buffering_max_messages: int
    queue_buffering_max_kbytes: int | None
    queue_buffering_backpressure_threshold: int | None
    batch_num_messages: int | None
    compression_level: int | None
    sticky_partitioning_linger_ms: int | None
    partitioner: str | None
    enable_gapless_guarantee: bool | None
    schema_registry_url: tuple[str, ...] | None
    basic_auth_credentials_source: Literal["URL", "USER_INFO", "SASL_INHERIT"]
    basic_auth_user_info: str | None
    bearer_auth_token: str | None
    schema_registry_ssl_truststore_location: str | None
    schema_registry_ssl_keystore_location: str | None
    schema_registry_ssl_key_password: str | None
    schema_registry_ssl_endpoint_identification_algorithm: str
    http_connect_timeout_ms: int
    http_read_timeout_ms: int
    max_retries: int
    retries_wait_ms: int
    retries_max_wait_ms: int
    max_schemas_per_subject: int
    latest_cache_size: int
    latest_cache_ttl_sec: int
    key_subject_name_strategy: "SubjectNameStrategySpec"
    value_subject_name_strategy: "SubjectNameStrategySpec"
    auto_register_schemas: bool | None
    use_schema_id: int
    id_compatibility_strict: bool
    use_latest_version: bool
    use_latest_with_metadata: Mapping[str, str] | str | None
    latest_compatibility_strict: bool
    normalize_schemas: bool
    key_schema_id_serializer: str
    value_schema_id_serializer: str
    reference_subject_name_strategy: Callable[[str], str] | None
    json_fail_invalid_schema: bool
    auto_include_jmx_reporter: object
    metric_reporters: object
    metrics_num_samples: object
    metrics_recording_level: object
    metrics_sample_window_ms: object
    interceptor_classes: object
    config_providers: object
    metadata_max_idle_ms: object
    socket_connection_setup_timeout_max_ms: object
    security_providers: object
    ssl_protocol: object
    ssl_enabled_protocols: object
    ssl_provider: object
    ssl_keymanager_algorithm: object
    ssl_trustmanager_algorithm: object
    ssl_secure_random_implementation: object
    ssl_engine_factory_class: object
    sasl_login_class: object
    sasl_login_callback_handler_class: object
    sasl_client_callback_handler_class: object
    partitioner_adaptive_partitioning_enable: object
    partitioner_availability_timeout_ms: object
    transaction_two_phase_commit_enable: object
