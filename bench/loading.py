"""What it costs to load and save a cassette: 1,000 interactions of 2 kB, against what libyaml costs PyYAML alone.

Run it with `python bench/loading.py [--interactions N] [--octets N]`; it takes some seconds on one core. Prints the
median of five rounds in seconds of processor time, and the ratio to `yaml.load(…, CSafeLoader)` of the same text in the
same round. Our reader also checks every value against the format's table and builds the model, which CSafeLoader does
not.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import yaml

from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response, interaction_id
from replayproxy.core.rights import preset
from replayproxy.format import digest_of, dump, load
from replayproxy.format.document import parse

ROUNDS = 5
ORIGIN = Origin.of("https", "api.example.test")
ASKED = (("Host", "api.example.test"), ("User-Agent", "python-requests/2.34.0"), ("Accept", "*/*"))
ANSWERED = (("Content-Type", "application/json"), ("Date", "Mon, 02 Feb 2026 02:40:00 GMT"), ("Server", "example"))


def cassette(interactions: int, octets: int) -> Cassette:
    """A recording of that many answers, each a JSON document of about OCTETS octets."""
    return Cassette(
        name="bench",
        interactions=tuple(interaction(order, octets) for order in range(interactions)),
        rights=preset("own-synthetic"),
        salt="00" * 16,
        recorded_us=1_770_000_000_000_000,
    )


def interaction(order: int, octets: int) -> Interaction:
    """One GET and its answer."""
    request = Request(method="GET", origin=ORIGIN, target=f"/v1/things/{order}?expand=all", headers=ASKED)
    rows = [{"id": order * 100 + row, "name": f"thing {row}", "tags": ["a", "é"]} for row in range(octets // 48)]
    body = json.dumps({"data": rows}, ensure_ascii=False).encode()
    headers = (*ANSWERED, ("Content-Length", str(len(body))))
    return Interaction(
        id=interaction_id(order, request),
        order=order,
        request=request,
        response=Response(status=200, reason="OK", headers=headers, body=body),
        started_us=1_770_000_000_000_000 + order * 1000,
        first_ms=12,
        ended_ms=15,
    )


def seconds(work: Callable[[], object]) -> float:
    """Processor time of WORK."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Measure in rounds, so that what slows the machine slows every row, and print the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--interactions", type=int, default=1000)
    arguments.add_argument("--octets", type=int, default=2000)
    options = arguments.parse_args()
    model = cassette(options.interactions, options.octets)
    text = dump(model).text
    rows: dict[str, Callable[[], object]] = {
        "yaml.CSafeLoader": lambda: yaml.load(text, Loader=yaml.CSafeLoader),  # noqa: TID251 - what we compare with
        "format.document.parse": lambda: parse(text, "bench.yaml"),
        "format.load": lambda: load(text, "bench.yaml"),
        "format.dump": lambda: dump(model),
        "format.digest_of": lambda: digest_of(model),
    }
    rounds = [{name: seconds(work) for name, work in rows.items()} for _ in range(ROUNDS)]
    print(f"{options.interactions} interactions, {len(text):,} octets of text")
    print(f"{'':<22}{'seconds':>9}{'ratio':>8}")
    for name in rows:
        ratio = statistics.median(found[name] / found["yaml.CSafeLoader"] for found in rounds)
        print(f"{name:<22}{statistics.median(found[name] for found in rounds):>9.3f}{ratio:>8.2f}")


if __name__ == "__main__":
    main()
