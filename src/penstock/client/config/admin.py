"""The settings of an admin client, which speaks the wire itself: no librdkafka."""

from penstock.client.config.common import CONNECTION, DEFAULT_API_TIMEOUT, SECURITY
from penstock.client.config.native import ALIASES, native_settings
from penstock.client.config.setting import ClientTable
from penstock.client.config.without_effect import settings_without_effect

ADMIN_TABLE = ClientTable(
    (*CONNECTION, DEFAULT_API_TIMEOUT, *SECURITY, *native_settings("A"), *settings_without_effect("A")),
    ALIASES,
)
