"""UpdateFeatures: all of the changes or none.

v0 can only upgrade (its `allow_downgrade` is not looked at, as in Kafka); v1 has the upgrade type and
`validate_only`; v2 answers for all features together.
"""

from typing import TYPE_CHECKING

from penstock.broker.coordination import CoordinationError
from penstock.broker.router import RequestContext, handles
from penstock.controller.features import FeatureUpdate
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

LAST_VERSION_WITH_RESULTS = 1
NO_ERROR = "NONE"
"""What Kafka says of a feature that was updated."""


@handles(UpdateFeaturesRequest, versions=(0, 2))
async def handle_update_features(
    broker: "Broker", request: UpdateFeaturesRequest, context: RequestContext
) -> UpdateFeaturesResponse:
    updates = {
        update.feature: FeatureUpdate(update.feature, update.max_version_level, update.upgrade_type)
        for update in request.feature_updates
    }
    version = context.version
    try:
        await broker.features.update(updates, validate_only=request.validate_only)
    except ApiError as error:
        message = f"The update failed for all features since the following feature had an error: {error}"
        return UpdateFeaturesResponse(error_code=error.code, error_message=message)
    except CoordinationError as error:
        return UpdateFeaturesResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=str(error))
    with_results = version <= LAST_VERSION_WITH_RESULTS
    results = [UpdatableFeatureResult(name, error_message=NO_ERROR) for name in updates]
    return UpdateFeaturesResponse(results=results if with_results else ())
