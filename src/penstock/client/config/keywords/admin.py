"""Generated from the table of settings by `make generate`: what type checkers and editors see of it."""

from collections.abc import Sequence
from typing import Literal, TypedDict


class AdminKeywords(TypedDict, total=False):
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
    default_api_timeout_ms: int
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
    enable_ssl_certificate_verification: bool
    ssl_certificate_location: str
    ssl_key_location: str
    sasl_username: str
    sasl_password: str
    auto_include_jmx_reporter: object
    metric_reporters: object
    metrics_num_samples: object
    metrics_recording_level: object
    metrics_sample_window_ms: object
    config_providers: object
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


class AdminAttributes:
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
    default_api_timeout_ms: int
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
    enable_ssl_certificate_verification: bool | None
    ssl_certificate_location: str | None
    ssl_key_location: str | None
    sasl_username: str | None
    sasl_password: str | None
    auto_include_jmx_reporter: object
    metric_reporters: object
    metrics_num_samples: object
    metrics_recording_level: object
    metrics_sample_window_ms: object
    config_providers: object
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
