import pytest

pytest.register_assert_rewrite("tests.registry.formats.protobuf.cases")
