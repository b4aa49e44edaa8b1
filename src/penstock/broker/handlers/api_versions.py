"""ApiVersions: what this broker can do, taken from the table that the handlers fill.

v0 is answered to any version that we don't know, with UNSUPPORTED_VERSION and the versions of ApiVersions alone
(KIP-511), so that the client asks again with one of those. The response header is never flexible, so that every
client can read it. v3 is flexible, carries the client's name and the features; v4 allows a feature's minimum to
be 0.
"""

import re
from typing import TYPE_CHECKING

from penstock.broker.router import APIS, RequestContext, handles
from penstock.controller.features import SUPPORTED_FEATURES
from penstock.errors import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

CLIENT_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
FIRST_VERSION_WITH_CLIENT_SOFTWARE = 3
FIRST_VERSION_WITH_LEVEL_0 = 4


def _served() -> list[ApiVersion]:
    return [ApiVersion(key, api.advertised_from, api.versions[1]) for key, api in sorted(APIS.items())]


def _refuse_version(broker: "Broker") -> ApiVersionsResponse:
    own = [api for api in _served() if api.api_key == ApiKey.API_VERSIONS]
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=own)


def _supported(version: int) -> list[SupportedFeatureKey]:
    """Clients that only know older versions fail on a feature that may be at level 0."""
    return [
        SupportedFeatureKey(name, *levels)
        for name, levels in SUPPORTED_FEATURES.items()
        if levels.lowest or version >= FIRST_VERSION_WITH_LEVEL_0
    ]


@handles(ApiVersionsRequest, versions=(0, 4), refuse_version=_refuse_version)
def handle_api_versions(
    broker: "Broker", request: ApiVersionsRequest, context: RequestContext
) -> ApiVersionsResponse:
    name, version = request.client_software_name, request.client_software_version
    if context.version >= FIRST_VERSION_WITH_CLIENT_SOFTWARE:
        if not (CLIENT_SOFTWARE.fullmatch(name) and CLIENT_SOFTWARE.fullmatch(version)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        context.connection.client_software = (name, version)
    return ApiVersionsResponse(
        api_keys=_served(),
        supported_features=_supported(context.version),
        finalized_features_epoch=broker.features.epoch,
        finalized_features=[
            FinalizedFeatureKey(name, level, level) for name, level in broker.features.finalized.items()
        ],
    )
