"""The endpoints of Confluent's Schema Registry, one module per resource, over the decisions and lookups of the core."""

from penstock.registry.api import compatibility, config, contexts, metadata, mode, schemas, subjects, versions
from penstock.registry.api.context_path import routed_path
from penstock.registry.errors import RegistryError
from penstock.registry.node import RegistryNode
from penstock.web.app import HttpApp
from penstock.web.errors import HttpError
from penstock.web.media_types import MediaTypes
from penstock.web.routes import Routes

JSON_TYPES = (
    "application/vnd.schemaregistry.v1+json",
    "application/vnd.schemaregistry+json",
    "application/json",
)
MEDIA_TYPES = MediaTypes(produces=JSON_TYPES, consumes=JSON_TYPES)
RESOURCES = (subjects, versions, schemas, compatibility, config, mode, contexts, metadata)


def make_app(node: RegistryNode) -> HttpApp:
    routes = Routes()
    for resource in RESOURCES:
        routes.include(resource.routes_of(node))
    return HttpApp(
        routes,
        MEDIA_TYPES,
        max_body_bytes=node.settings.size_limit_filter_max_request_body_size,
        translate=_translate,
        rewrite=routed_path,
        authentication=node.settings.web.authentication,
        body_timeout_ms=node.settings.web.request_body_timeout_ms,
    )


def _translate(error: Exception) -> HttpError | None:
    if isinstance(error, RegistryError):
        return HttpError(error.status, error.error_code, error.message)
    return None
