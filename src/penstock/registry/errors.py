"""Confluent's error codes and the words that go with them. The first three digits are the HTTP status."""

from __future__ import annotations

from penstock.errors import PenstockError


class RegistryError(PenstockError):
    """Becomes `{"error_code": ..., "message": ...}` with the HTTP status."""

    def __init__(self, status: int, error_code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.error_code = error_code
        self.message = message


def _error(error_code: int, message: str) -> RegistryError:
    return RegistryError(error_code // 100, error_code, message)


def bad_request(message: str) -> RegistryError:
    return RegistryError(400, 400, message)


def subject_not_found(subject: str | None) -> RegistryError:
    return _error(40401, f"Subject '{'null' if subject is None else subject}' not found.")


def version_not_found(version: int) -> RegistryError:
    return _error(40402, f"Version {version} not found.")


def schema_not_found(identity: int | str | None = None) -> RegistryError:
    return _error(40403, "Schema not found" if identity is None else f"Schema {identity} not found")


def subject_soft_deleted(subject: str) -> RegistryError:
    return _error(40404, f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently")


def subject_not_soft_deleted(subject: str) -> RegistryError:
    return _error(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_soft_deleted(subject: str, version: int) -> RegistryError:
    return _error(
        40406,
        f"Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently",
    )


def version_not_soft_deleted(subject: str, version: int) -> RegistryError:
    return _error(
        40407, f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    )


def config_not_found(subject: str) -> RegistryError:
    return _error(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def mode_not_found(subject: str) -> RegistryError:
    return _error(40409, f"Subject '{subject}' does not have subject-level mode configured")


def incompatible_schema(subject: str, reasons: list[str]) -> RegistryError:
    return RegistryError(
        409,
        40901,
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", '
        f"details: [{', '.join(reasons)}]",
    )


def invalid_schema(message: str) -> RegistryError:
    return _error(42201, message)


def invalid_version(version: str) -> RegistryError:
    return _error(
        42202,
        f"The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"',
    )


def invalid_compatibility_level() -> RegistryError:
    return _error(
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, "
        "backward_transitive, forward_transitive, and full_transitive",
    )


def invalid_mode(
    message: str = "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.",
) -> RegistryError:
    return _error(42204, message)


def not_permitted(message: str) -> RegistryError:
    return _error(42205, message)


def reference_exists(subject: str, version: int) -> RegistryError:
    key = f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}"
    return _error(42206, f"One or more references exist to the schema {key}.")


def invalid_subject(subject: str) -> RegistryError:
    return _error(42208, f"The specified subject '{subject}' is not a valid.")


def schema_too_large() -> RegistryError:
    return _error(42209, "Register operation failed because schema is too large")


def invalid_rule_set(message: str) -> RegistryError:
    return _error(42210, message)


def context_not_empty(context: str) -> RegistryError:
    return _error(42211, f"The specified context '{context}' is not empty.")


def operation_timed_out(message: str) -> RegistryError:
    return _error(50002, message)


def forwarding_failed(message: str) -> RegistryError:
    return _error(50003, message)


def unknown_leader(message: str = "Leader not known.") -> RegistryError:
    return _error(50004, message)


class LeaderChanged(RegistryError):
    """What was asked of the leader before has certainly not been written: another one can be asked."""

    def __init__(self) -> None:
        super().__init__(500, 50004, "The leader has just changed.")
