"""What tests hold in their hands: rules for the requests that come to a broker, and a list of those that came.

A request is taken by the first rule that wants it, in the order in which the rules were made; one that no rule wants
goes its ordinary way. `nth` and `after` count all requests that a rule is about, whoever takes them. A rule is about
whole requests: a produce request to two topics that is answered with an error says so for both.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypedDict, Unpack

from penstock.testing.interception import actions
from penstock.testing.interception.names import api_named, error_named
from penstock.testing.interception.rules import Action, Rule
from penstock.testing.interception.seen import SeenRequest
from penstock.wire.schema import ApiMessage

MAX_SEEN = 100_000
"""Requests that are remembered; the oldest are forgotten first."""
ANY_API = "*"


class Conditions(TypedDict, total=False):
    """Which of an API's requests a rule takes; all of them if nothing is said."""

    topic: str
    """Those that name this topic."""
    client_id: str
    """Those of this client, by its `client.id`."""
    where: Callable[[SeenRequest], bool]
    """Those for which the function returns true."""
    after: int
    """Not the first so many."""
    times: int
    """At most so many."""
    nth: int
    """Only the so-manyth, counted from 1."""
    probability: float
    """Each with this probability, by a random generator of the rule's own."""
    seed: int
    """The seed of that generator: 0 if not given, so that every run is the same."""


class Interceptor:
    def __init__(self) -> None:
        self.rules: tuple[Rule, ...] = ()
        self.lock = threading.Condition()
        self._recording = False
        self._seen: deque[SeenRequest] = deque(maxlen=MAX_SEEN)
        self._failures: list[Exception] = []

    # rules

    def answer(
        self,
        api: str | int,
        error: str | int | None = None,
        *,
        message: str | None = None,
        response: Callable[[SeenRequest], ApiMessage | None] | None = None,
        **conditions: Unpack[Conditions],
    ) -> Rule:
        """Does not carry the request out, but answers it: with one of Kafka's errors, or with what `response` returns.

        The error stands where Kafka would put it in this API and version. `message` goes along where there is room for
        one. A `response` that returns None lets this one request go its ordinary way.
        """
        if (error is None) == (response is None):
            raise ValueError("answer: takes either an error or a response")
        if response is not None:
            return self.rule(api, actions.answering(response), f"answer({api!r}, response=...", **conditions)
        assert error is not None
        code = error_named(error)
        text = f"answer({api!r}, {code.name!r}"
        return self.rule(api, actions.answering_error(code, message), text, **conditions)

    def change(
        self,
        api: str | int,
        answer: Callable[[SeenRequest, ApiMessage], ApiMessage | None],
        **conditions: Unpack[Conditions],
    ) -> Rule:
        """Carries the request out and hands the broker's answer to a function that changes it or returns another."""
        return self.rule(api, actions.changing(answer), f"change({api!r}, ...", **conditions)

    def delay(self, api: str | int, seconds: float, **conditions: Unpack[Conditions]) -> Rule:
        """Carries the request out later. What follows on the same connection waits too, as in Kafka."""
        if seconds < 0:
            raise ValueError(f"seconds: got {seconds}; takes a number from 0")
        return self.rule(api, actions.delaying(seconds), f"delay({api!r}, {seconds:g}", **conditions)

    def drop(
        self,
        api: str | int,
        *,
        handled: bool = False,
        silent: bool = False,
        **conditions: Unpack[Conditions],
    ) -> Rule:
        """Closes the connection instead of answering.

        With `handled` the request is carried out first: only the answer is lost. With `silent` the connection stays
        open and nothing comes, until the client gives up or the rule is removed.
        """
        options = "".join(
            f", {name}=True" for name, value in (("handled", handled), ("silent", silent)) if value
        )
        action = actions.dropping(handled=handled, silent=silent)
        return self.rule(api, action, f"drop({api!r}{options}", **conditions)

    def rule(
        self, api: str | int, action: Action, text: str = "rule(...", **conditions: Unpack[Conditions]
    ) -> Rule:
        """The general form: `action(rule, exchange)` is a coroutine that returns the answer, or None for none."""
        key = None if api == ANY_API else api_named(api)
        nth = conditions.get("nth")
        probability = conditions.get("probability", 1.0)
        _check(conditions, probability)
        rule = Rule(
            self,
            text + "".join(f", {name}={value!r}" for name, value in conditions.items()) + ")",
            action,
            api=key,
            topic=conditions.get("topic"),
            client_id=conditions.get("client_id"),
            where=conditions.get("where"),
            after=conditions.get("after", 0) if nth is None else nth - 1,
            times=conditions.get("times") if nth is None else 1,
            probability=probability,
            seed=conditions.get("seed", 0),
        )
        with self.lock:
            self.rules = (*self.rules, rule)
        return rule

    def clear(self) -> None:
        """Removes all rules, forgets all requests, and raises what a function of the test has raised meanwhile."""
        for rule in self.rules:
            rule.remove()
        with self.lock:
            self._seen.clear()
            failures, self._failures = self._failures, []
        if failures:
            raise failures[0]

    def assert_all_matched(self) -> None:
        """Fails if one of the rules in force took no request."""
        for rule in self.rules:
            rule.assert_matched()

    # requests

    @contextmanager
    def recording(self) -> Iterator["Interceptor"]:
        """Remembers the requests that come meanwhile; at the end, rules and requests are forgotten."""
        self._recording = True
        try:
            yield self
        finally:
            self._recording = False
            self.clear()

    def seen(self, api: str | int = ANY_API, topic: str | None = None) -> list[SeenRequest]:
        """The requests that came, the oldest first: of this API, about this topic."""
        key = None if api == ANY_API else api_named(api)
        with self.lock:
            found = list(self._seen)
        return [one for one in found if key in (None, one.api) and (topic is None or topic in one.topics)]

    def wait_for(
        self, api: str | int, topic: str | None = None, count: int = 1, timeout_seconds: float = 30
    ) -> list[SeenRequest]:
        """Waits until so many such requests have come, and returns them."""
        self.wait_until(
            lambda: len(self.seen(api, topic)) >= count,
            timeout_seconds,
            lambda: f"{count} {api} requests; {len(self.seen(api, topic))} came",
        )
        return self.seen(api, topic)

    def wait_until(
        self, condition: Callable[[], bool], timeout_seconds: float, what: Callable[[], str]
    ) -> None:
        deadline = time.monotonic() + timeout_seconds
        with self.lock:
            while not condition():
                left = deadline - time.monotonic()
                if left <= 0 or not self.lock.wait(left):
                    raise TimeoutError(f"waited {timeout_seconds:g} s for {what()}")

    # the broker's side

    @property
    def is_idle(self) -> bool:
        return not self.rules and not self._recording

    def take(self, request: SeenRequest) -> Rule | None:
        """The rule that takes a request."""
        with self.lock:
            fitting = [rule for rule in self.rules if rule.fits(request)]
            request.rule = next((rule for rule in fitting if rule.takes()), None)
            if self._recording:
                self._seen.append(request)
            self.lock.notify_all()
        return request.rule

    def on_failure(self, error: Exception) -> None:
        with self.lock:
            self._failures.append(error)


def _check(conditions: Conditions, probability: float) -> None:
    unknown = set(conditions) - Conditions.__annotations__.keys()
    if unknown:
        raise TypeError(
            f"a rule takes {', '.join(Conditions.__annotations__)}; got {', '.join(sorted(unknown))}"
        )
    if "nth" in conditions and ("after" in conditions or "times" in conditions):
        raise ValueError("nth: can't be combined with after or times")
    if conditions.get("nth", 1) < 1:
        raise ValueError(f"nth: got {conditions['nth']}; takes a number from 1")
    if not 0 <= probability <= 1:
        raise ValueError(f"probability: got {probability}; takes a number from 0 to 1")
