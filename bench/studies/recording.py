"""Recording with redaction, beside mitmdump saving flows: the same upstream, the same requests, the same rounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench.client import BenchError, Door, Order, Seen, write_plan
from bench.process import free_port
from bench.recordings import HOST, PORTS, Recordings
from bench.rounds import Bench, exchanges, say
from bench.servers import Kind, Mitmdump, Replayproxy, Server, proxy_doors, serving
from replayproxy.demo import certificate

CONNECTIONS = 32
REDIRECT = '''"""Sends what is for the recorded host to the upstream of the bench."""
ADDRESSES = {addresses!r}


def server_connect(data):
    """Once for each connection."""
    data.server.address = ("127.0.0.1", ADDRESSES[data.server.address[1]])
'''


@contextmanager
def record(kind: Replayproxy, up: Server, ca: Path, folder: Path, core: int | None) -> Iterator[dict[str, Any]]:
    """`replayproxy record`, ready."""
    port, told = free_port(), folder / "ready.json"
    doors = proxy_doors(port, Path())
    there = [f"{HOST}:{PORTS[scheme]}:127.0.0.1:{up.doors[scheme].port}" for scheme in PORTS]
    line = [
        *kind.command, "record", "-o", "made.yaml", "--rights", "own-synthetic", "--allow-host", HOST,
        *(word for place in there for word in ("--connect-to", place)), "--upstream-ca", str(ca),
        "--listen", f"127.0.0.1:{port}", "--control", "127.0.0.1:0", "--state-dir", str(folder / "state"),
        "--ready-file", str(told), "--quiet",
    ]  # fmt: skip
    with serving(line, folder, core, doors["http"], Recordings()) as (group, _, _):
        yield {"group": group, "doors": proxy_doors(port, Path(json.loads(told.read_text("utf-8"))["ca"]))}


@contextmanager
def save(kind: Mitmdump, up: Server, ca: Path, folder: Path, core: int | None) -> Iterator[dict[str, Any]]:
    """mitmdump saving flows, ready."""
    addresses = {PORTS[scheme]: up.doors[scheme].port for scheme in PORTS}
    (folder / "redirect.py").write_text(REDIRECT.format(addresses=addresses), "utf-8")
    doors = proxy_doors(free_port(), folder / "confdir" / "mitmproxy-ca-cert.pem")
    settings = {
        "confdir": str(folder / "confdir"),
        "connection_strategy": "lazy",
        "upstream_cert": "false",
        "ssl_verify_upstream_trusted_ca": str(ca),
    }
    line = [
        *kind.command, "--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(doors["http"].port),
        "-w", "made.flows", "-s", "redirect.py",
        *(word for name, value in settings.items() for word in ("--set", f"{name}={value}")),
    ]  # fmt: skip
    with serving(line, folder, core, doors["http"], Recordings()) as (group, _, _):
        yield {"group": group, "doors": doors}


def recording(bench: Bench) -> dict[str, Any]:
    """Plain and kept-alive TLS, 300 octets, redaction on; nginx is the upstream, on the load's core."""
    ours, theirs, nginx = bench.kind("native"), bench.kind("mitmdump"), bench.kind("nginx")
    if not isinstance(ours, Replayproxy) or not isinstance(theirs, Mitmdump):
        raise BenchError("recording compares replayproxy with mitmdump")
    place = bench.place / "recording"
    legs: dict[tuple[str, str], list[Seen]] = {}
    with ExitStack() as stack:
        up, ca = _upstream(nginx, place, bench.client.core, stack)
        both: dict[str, Any] = {}
        for name, start in (("replayproxy record", record), ("mitmdump -w", save)):
            folder = place / name.partition(" ")[0]
            folder.mkdir()
            kind: Any = ours if start is record else theirs
            both[name] = stack.enter_context(start(kind, up, ca, folder, bench.core))
        for number in range(bench.rounds):
            turns = [(scheme, name) for scheme in PORTS for name in both]
            for scheme, name in turns if number % 2 == 0 else reversed(turns):
                seen = _leg(bench, both[name], scheme)
                legs.setdefault((scheme, name), []).append(seen)
                say(f"recording {scheme} {name}: {seen.per_core:,.0f}/core-s")
        resident = {name: facts["group"].resident() for name, facts in both.items()}
    return _told(legs, resident)


def _upstream(nginx: Kind, place: Path, core: int | None, stack: ExitStack) -> tuple[Server, Path]:
    folder = place / "upstream"
    folder.mkdir(parents=True)
    nginx.prepare(Recordings(), folder)
    up = stack.enter_context(nginx.start(Recordings(), folder, core))
    return up, certificate.Identity(folder / "tls" / "ca.pem", Path(), Path()).authority


def _leg(bench: Bench, facts: dict[str, Any], scheme: str) -> Seen:
    recordings, door = Recordings(scheme), facts["doors"][scheme]
    assert isinstance(door, Door)
    plan = bench.place / "recording" / f"{scheme}.plan"
    if not plan.exists():
        write_plan(plan, exchanges(recordings, "GET", door.form, bench.kind("nginx").missing))
    order = Order(connections=CONNECTIONS, seconds=bench.seconds, warm=bench.warm)
    return bench.client.run(plan, door, order, facts["group"].pids())


def _told(legs: dict[tuple[str, str], list[Seen]], resident: dict[str, int]) -> dict[str, Any]:
    lines, metrics = [], {}
    for scheme, mode in (("http", "plain"), ("https", "tls")):
        ours, theirs = ([seen.per_core for seen in legs[scheme, name]] for name in resident)
        ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
        metrics[f"recording {mode}"] = median(ratios)
        lines.append(
            f"{mode}: replayproxy record {median(ours):,.0f}/core-s, mitmdump -w {median(theirs):,.0f}/core-s, "
            f"ratio {median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
        )
    lines.append(", ".join(f"{name}: {octets / 1e6:.0f} MB resident at the end" for name, octets in resident.items()))
    return {
        "name": "recording",
        "what": "32 kept-alive connections, 300 octets, redaction on, one nginx for both, on the load's core",
        "lines": lines,
        "metrics": metrics,
    }
