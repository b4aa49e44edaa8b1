"""The REST API of a Connect worker, one module per resource, over the worker's interface."""

from penstock.pipeline.connect.rest.app import make_admin_app, make_app, serving_rest
from penstock.pipeline.connect.rest.service import Service

__all__ = ["Service", "make_admin_app", "make_app", "serving_rest"]
