"""Example cassettes, found by `importlib.resources.files("replayproxy.cassettes")`. See README.md beside them."""
