"""What an administrator asks of a cluster: one module of async functions per subject, over a `Cluster`."""
