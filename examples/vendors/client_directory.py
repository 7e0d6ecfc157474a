"""Lists the staff directory page by page, then asks again with the entity tag of the first page.

python examples/vendors/client_directory.py [BASE]
"""

from __future__ import annotations

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.client import HTTPResponse
from typing import Any, cast

BASE = "https://directory.vendors.example"
TIMEOUT_SECONDS = 30.0
CREDENTIALS = {
    "grant_type": "client_credentials",
    "client_id": "examples",
    "client_secret": "directory-secret-8c41f7e2",
}


def send(url: str, headers: Mapping[str, str], body: bytes | None = None) -> HTTPResponse:
    """The answer; 304 and errors are answers too."""
    try:
        request = urllib.request.Request(url, data=body, headers=dict(headers))
        return cast("HTTPResponse", urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS))
    except urllib.error.HTTPError as error:
        return cast("HTTPResponse", error)


def following(answer: HTTPResponse) -> str | None:
    """The target of the link to the next page, if there is one."""
    found = re.search(r'<([^>]+)>; rel="next"', answer.headers.get("Link", ""))
    return found[1] if found else None


def main(base: str) -> int:
    """Print each person of each page, and how the second look at the first page went."""
    token: Any = json.load(send(f"{base}/oauth/token", {}, urllib.parse.urlencode(CREDENTIALS).encode()))
    headers = {"Authorization": f"Bearer {token['access_token']}", "Accept": "application/json"}
    print("scope", token["scope"], "for", token["expires_in"], "seconds")
    first = f"{base}/v1/people?limit=3"
    tag, page = "", 0
    url: str | None = first
    while url:
        answer = send(url, headers)
        page, tag = page + 1, tag or answer.headers.get("ETag", "")
        for person in json.load(answer)["data"]:
            print("page", page, person["id"], person["name"], person["updated_at"])
        url = following(answer)
    again = send(first, {**headers, "If-None-Match": tag})
    print("again", again.status, len(again.read()), "octets", again.headers.get("ETag") == tag)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else BASE))
