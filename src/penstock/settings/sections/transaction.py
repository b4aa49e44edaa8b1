"""The transaction coordinator."""

from dataclasses import dataclass

from penstock.settings.declare import CLUSTER_WIDE, HIGH, LATER, LOW, NO_EFFECT, boolean, integer, short
from penstock.settings.takes import at_least


@dataclass(frozen=True, init=False, repr=False, eq=False)
class TransactionSettings:
    transactional_id_expiration_ms: int = integer(
        604_800_000,
        "How long a transactional id without a transaction is remembered.",
        at_least(1),
        importance=HIGH,
    )
    transaction_max_timeout_ms: int = integer(
        900_000, "The longest timeout that a producer may ask for.", at_least(1), importance=HIGH
    )
    transaction_state_log_num_partitions: int = integer(
        50,
        "The partitions of __transaction_state; fixed once the topic exists.",
        at_least(1),
        importance=HIGH,
    )
    transaction_state_log_replication_factor: int = short(
        3,
        "The replicas of __transaction_state; it is not created before there are as many brokers.",
        at_least(1),
        importance=HIGH,
    )
    transaction_state_log_min_isr: int = integer(
        2,
        "The in-sync replicas that __transaction_state needs; at most its number of replicas.",
        at_least(1),
        importance=HIGH,
    )
    transaction_state_log_segment_bytes: int = integer(
        104_857_600, "The segment size of __transaction_state.", at_least(1), importance=HIGH
    )
    transaction_state_log_load_buffer_size: int = integer(
        5_242_880,
        "The bytes read at once when transactions are loaded.",
        at_least(1),
        importance=HIGH,
        effect=NO_EFFECT,
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = integer(
        10_000, "How often transactions that took too long are aborted.", at_least(1), importance=LOW
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = integer(
        3_600_000, "How often expired transactional ids are removed.", at_least(1), importance=LOW
    )
    transaction_partition_verification_enable: bool = boolean(
        True,
        "Whether a partition asks the coordinator before it accepts a transaction's records.",
        importance=LOW,
        scope=CLUSTER_WIDE,
    )
    transaction_two_phase_commit_enable: bool = boolean(
        False, "Whether producers may take part in two-phase commits.", importance=LOW, effect=LATER
    )
    add_partitions_to_txn_retry_backoff_ms: int = integer(
        20, "How long adding a partition waits while the last transaction ends.", at_least(1), importance=HIGH
    )
    add_partitions_to_txn_retry_backoff_max_ms: int = integer(
        100, "How long it waits at most.", at_least(0), importance=HIGH
    )
