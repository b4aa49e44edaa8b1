"""A member of a classic group."""

from collections.abc import Iterable
from typing import NamedTuple

from penstock.machine import Ticket
from penstock.wire.messages.describe_groups import DescribedGroupMember
from penstock.wire.messages.join_group import JoinGroupRequestProtocol
from penstock.wire.stored.group import MemberMetadata

NO_ASSIGNMENT = b""


class JoinTerms(NamedTuple):
    """What a member comes with each time it joins."""

    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: dict[str, bytes]
    """The protocols that it speaks, the one it likes best first, each with its metadata."""


def protocols_of(protocols: Iterable[JoinGroupRequestProtocol]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for protocol in protocols:
        found.setdefault(protocol.name, protocol.metadata)
    return found


class ClassicMember:
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "group_instance_id",
        "is_new",
        "join_ticket",
        "member_id",
        "sync_ticket",
        "terms",
    )

    def __init__(
        self,
        member_id: str,
        group_instance_id: str | None,
        client_id: str,
        client_host: str,
        terms: JoinTerms,
        assignment: bytes = NO_ASSIGNMENT,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.terms = terms
        self.assignment = assignment
        self.is_new = False
        """It has not got its first answer, so that it can't have sent a heartbeat."""
        self.join_ticket: Ticket | None = None
        self.sync_ticket: Ticket | None = None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a request of it is parked here: a sign of life, though no heartbeat comes."""
        return not self.is_new and (self.join_ticket is not None or self.sync_ticket is not None)

    def is_as_stored(self, stored: MemberMetadata, protocol_name: str | None) -> bool:
        """Whether it came with what the log says of it."""
        terms = self.terms
        return (
            terms.protocols.get(protocol_name or "") == stored.subscription
            and terms.session_timeout_ms == stored.session_timeout
        )

    def under_new_id(self, member_id: str, terms: JoinTerms) -> "ClassicMember":
        """The same static member, back from a restart."""
        return ClassicMember(
            member_id, self.group_instance_id, self.client_id, self.client_host, terms, self.assignment
        )

    def take_join_ticket(self) -> Ticket | None:
        ticket, self.join_ticket = self.join_ticket, None
        return ticket

    def take_sync_ticket(self) -> Ticket | None:
        ticket, self.sync_ticket = self.sync_ticket, None
        return ticket

    def vote(self, candidates: set[str]) -> str:
        return next(name for name in self.terms.protocols if name in candidates)

    def described(self, protocol_name: str | None) -> DescribedGroupMember:
        """Its metadata is shown only for a protocol that is settled."""
        return DescribedGroupMember(
            member_id=self.member_id,
            group_instance_id=self.group_instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            member_metadata=b"" if protocol_name is None else self.terms.protocols[protocol_name],
            member_assignment=self.assignment,
        )


# in the log


def stored_member(member: ClassicMember, protocol_name: str, assignment: bytes) -> MemberMetadata:
    return MemberMetadata(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.terms.rebalance_timeout_ms,
        session_timeout=member.terms.session_timeout_ms,
        subscription=member.terms.protocols[protocol_name],
        assignment=assignment,
    )


def restored_member(stored: MemberMetadata, protocol_name: str | None) -> ClassicMember:
    """A member as the log knows it: of its protocols only the one that was chosen."""
    rebalance_timeout_ms = stored.rebalance_timeout
    if rebalance_timeout_ms == -1:  # the first version had one timeout for both
        rebalance_timeout_ms = stored.session_timeout
    terms = JoinTerms(
        rebalance_timeout_ms, stored.session_timeout, {protocol_name or "": stored.subscription}
    )
    return ClassicMember(
        stored.member_id,
        stored.group_instance_id,
        stored.client_id,
        stored.client_host,
        terms,
        stored.assignment,
    )
