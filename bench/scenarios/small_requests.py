"""Broker CPU per request, for requests that carry one record each."""

from __future__ import annotations

from bench.session import Session


def run(session: Session) -> None:
    count = session.sizes.small_requests
    for _ in range(session.sizes.rounds):
        for server in session.steady():
            with session.topic(server, 1) as topic:
                load = session.small_requests(server, topic, count)
            session.record("small_requests_cpu", server.name, load.cpu_seconds / count * 100_000)
            session.record("small_requests_seconds", server.name, load.seconds / count * 100_000)
            session.say_last(server.name, "small_requests_cpu", "small_requests_seconds")
