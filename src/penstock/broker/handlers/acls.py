"""DescribeAcls, CreateAcls, DeleteAcls: SECURITY_DISABLED, as Kafka answers without an authorizer."""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ErrorCode
from penstock.wire.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse
from penstock.wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from penstock.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

WHY = "No Authorizer is configured."


@handles(DescribeAclsRequest, versions=(1, 3))
def handle_describe_acls(
    broker: "Broker", request: DescribeAclsRequest, context: RequestContext
) -> DescribeAclsResponse:
    return DescribeAclsResponse(error_code=ErrorCode.SECURITY_DISABLED, error_message=WHY)


@handles(CreateAclsRequest, versions=(1, 3))
def handle_create_acls(
    broker: "Broker", request: CreateAclsRequest, context: RequestContext
) -> CreateAclsResponse:
    refused = AclCreationResult(ErrorCode.SECURITY_DISABLED, WHY)
    return CreateAclsResponse(results=[refused] * len(request.creations))


@handles(DeleteAclsRequest, versions=(1, 3))
def handle_delete_acls(
    broker: "Broker", request: DeleteAclsRequest, context: RequestContext
) -> DeleteAclsResponse:
    refused = DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, WHY)
    return DeleteAclsResponse(filter_results=[refused] * len(request.filters))
