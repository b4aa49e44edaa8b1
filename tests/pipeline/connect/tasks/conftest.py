from tests.support.cluster_fixture import kafka

__all__ = ["kafka"]
