from tests.cli.tools.conftest import apache_cluster

__all__ = ["apache_cluster"]
