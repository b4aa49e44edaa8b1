"""What goes wrong between us and the Schema Registry.

KafkaError
  SchemaRegistryError               the registry refused: its `error_code`, its message
  RetriableError
    SchemaRegistryUnreachableError  no registry answered: their addresses, and why
"""

from penstock.wire_client.errors import KafkaError, RetriableError


class SchemaRegistryError(KafkaError):
    """The registry refused a request; `error_code` is Confluent's, `http_status` that of the answer.

    >>> from penstock.client import SchemaRegistryClient, SchemaRegistryError
    >>> with SchemaRegistryClient("http://localhost:8081") as registry:
    ...     try:
    ...         registry.latest_version("nothing-value")
    ...     except SchemaRegistryError as error:
    ...         print(error.http_status, error.error_code)
    404 40401
    """

    JAVA_NAME = "io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException"

    def __init__(self, http_status: int, error_code: int, message: str, request: str = "") -> None:
        asked = f"{request}: " if request else ""
        super().__init__(f"{asked}{message}; error code {error_code}")
        self.http_status = http_status
        self.error_code = error_code
        self.reason = message
        """The registry's own words."""


class SchemaRegistryUnreachableError(RetriableError):
    """No registry answered; the message says which ones were asked, and what each one did.

    >>> from penstock.client import SchemaRegistryClient, SchemaRegistryUnreachableError
    >>> with SchemaRegistryClient("http://localhost:1", max_retries=0) as registry:
    ...     try:
    ...         registry.subjects()
    ...     except SchemaRegistryUnreachableError as error:
    ...         print("http://localhost:1" in str(error))
    True
    """
