"""Typed settings of the clients, from one table each."""

from penstock.client.config.configs import AdminConfig, ClientConfig, ConsumerConfig, ProducerConfig
from penstock.client.config.keywords.admin import AdminKeywords
from penstock.client.config.keywords.consumer import ConsumerKeywords
from penstock.client.config.keywords.producer import ProducerKeywords

__all__ = [
    "AdminConfig",
    "AdminKeywords",
    "ClientConfig",
    "ConsumerConfig",
    "ConsumerKeywords",
    "ProducerConfig",
    "ProducerKeywords",
]
