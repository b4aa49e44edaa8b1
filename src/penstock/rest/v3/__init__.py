"""The API under `/v3`: clusters, brokers, configs, topics, ACLs, groups, and records both ways."""
