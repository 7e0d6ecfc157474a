"""mitmproxy addons, loaded by path: `mitmdump -s addons/record.py`. Nothing imports them."""
