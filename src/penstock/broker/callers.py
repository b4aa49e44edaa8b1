"""Who asks, in the words of the machines."""

from penstock.broker.connection import RequestContext
from penstock.machine import Caller


def caller_of(context: RequestContext) -> Caller:
    return Caller(context.version, context.client_id or "", "/" + context.connection.peer_ip)
