"""What `replayproxy demo` needs: a small upstream and a client, neither of which knows of replayproxy.

`server` is an HTTP server for made-up vendors (examples/vendors/ uses it too), `certificate` makes its TLS
identity, `upstream` is the vendor of the demo, and `client.py` is run as a program of its own. Nothing else
of replayproxy is imported here: the demo must show what any client sees.
"""
