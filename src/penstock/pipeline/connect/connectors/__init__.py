"""The connectors that come with Penstock, a package each with a table `JAVA_NAMES`."""
