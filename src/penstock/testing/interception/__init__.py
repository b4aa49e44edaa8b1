"""Requests on their way to a broker's handlers: seen, delayed, dropped, or answered with an error."""

from penstock.testing.interception.interceptor import Interceptor
from penstock.testing.interception.rules import Rule
from penstock.testing.interception.seen import SeenRequest

__all__ = ["Interceptor", "Rule", "SeenRequest"]
