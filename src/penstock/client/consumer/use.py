"""Who may use a consumer, and when: one thread at a time; only `wakeup` comes from others."""

import threading
from types import TracebackType
from typing import ClassVar

from penstock.wire_client.errors import JAVA_ERRORS_PACKAGE, KafkaError


class ConcurrentUseError(KafkaError):
    """Two threads used one consumer at the same time.

    >>> from penstock.client import ConcurrentUseError, KafkaError
    >>> issubclass(ConcurrentUseError, KafkaError)
    True
    """

    JAVA_NAME: ClassVar[str] = "java.util.ConcurrentModificationException"


class WakeupError(KafkaError):
    """`wakeup` ended the `poll` that waited, or the next one.

    >>> from penstock import KafkaConsumer
    >>> from penstock.client import WakeupError
    >>> with KafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing") as consumer:
    ...     consumer.wakeup()
    ...     try:
    ...         consumer.poll()
    ...     except WakeupError:
    ...         print("woken")
    woken
    """

    JAVA_NAME: ClassVar[str] = f"{JAVA_ERRORS_PACKAGE}.WakeupException"


class OneThreadAtATime:
    """`with use:` lets one thread in, again and again; a second one gets an error instead of a broken consumer."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.RLock()
        self._user = 0

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise ConcurrentUseError(
                f"thread {threading.current_thread().name!r} uses a {self._what} while thread {self._users_name()!r} "
                "does; give each thread its own, or end the other's poll with wakeup()"
            )
        self._user = threading.get_ident()

    def _users_name(self) -> str:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        return names.get(self._user, str(self._user))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.release()
