"""The whole platform with one command: `penstock up` starts, watches and stops a process per service."""
