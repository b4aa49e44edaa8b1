"""A registry that asks for a password over https; the proxy's `schema.registry.*` say how to come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.testing import InProcessBroker, InProcessRegistry
from tests.rest.proxy import running
from tests.rest.v2.test_produce import AVRO, post
from tests.support.certificates import self_signed
from tests.support.registry import own_group

pytestmark = pytest.mark.processes


def test_the_proxy_has_a_password_and_knows_whom_to_trust(broker: InProcessBroker, tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    users = tmp_path / "users"
    users.write_text("proxy: secret")
    secured = {
        **own_group(),
        "listeners": "https://127.0.0.1:0",
        "ssl.keystore.location": str(certificate.server),
        "authentication.method": "BASIC",
        "authentication.users.location": str(users),
    }
    trusting = {
        "schema_registry_ssl_truststore_location": str(certificate.authority),
        "schema_registry_basic_auth_credentials_source": "USER_INFO",
    }
    body = {"value_schema": '"int"', "records": [{"value": 7}]}
    with InProcessRegistry(broker.bootstrap_servers, secured) as registry:
        for password, status in (("secret", 200), ("wrong", 422)):
            login = {"schema_registry_basic_auth_user_info": f"proxy:{password}"}
            with running(
                broker.bootstrap_servers, schema_registry_url=registry.url, **trusting, **login
            ) as proxy:
                assert post(proxy, "/topics/secured", body, AVRO).status == status
