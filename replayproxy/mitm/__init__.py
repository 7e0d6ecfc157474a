"""Recording inside mitmproxy: the only room that imports it.

mitmproxy keeps listeners, modes, TLS on both sides and connections; `layer.RecordLayer` speaks HTTP (ADR 0002).
"""
