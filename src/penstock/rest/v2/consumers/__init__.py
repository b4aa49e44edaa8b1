"""Consumer instances: consumers that live in the proxy and are used over HTTP."""
