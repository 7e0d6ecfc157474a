"""docs/performance.md from the figures of one run; what stands between the markers is written by hand, and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.report import ROW_HEAD, START_HEAD, VERDICT_HEAD, not_measured, row_cells, start_cells, verdict_cells

BEGIN, END = "<!-- by hand: begin -->", "<!-- by hand: end -->"
FIRST = "Not written yet."
METHOD = """\
- **Requests per second of the server's processor time** (`requests/core-s`) is the figure: what the kernel says that
  all threads of the server's processes have used, read by the load itself at the moments its interval begins and ends.
  A busy machine makes wall time longer, not this. `requests/s` is wall time.
- The load is `bench/client.c`: one thread, epoll, OpenSSL, requests built beforehand, one under way on each connection.
  Status, length and every octet of every answer are compared with what was recorded; one that is wrong ends the run.
  Whether load or server bounds the wall time is in the table (`server`, `client`: share of a core used). Where the load
  does, the server idles between requests, which costs it a little more for each.
- Servers on one core, the load on another. All servers of a batch are up at once, with the same recordings, and asked
  in turn, forwards in one round and backwards in the next. Figures are medians of the rounds with their range; ratios
  are formed within a round.
- `plain`: absolute-form requests, kept alive. `tls`: CONNECT, then TLS 1.3 (X25519), kept alive. `tls-new`: the same
  with a new connection for each request and no session offered again. `MISS`: a path that was never asked for before;
  `MISS-AGAIN`: 1,000 unrecorded paths in turn. `POST` carries 1 KB of JSON, another for each interaction.
- A case is `mode/method/octets of the answer/connections/interactions`.
- replayproxy has full matching and the journal on, as always. mitmdump replays a flow file with
  `connection_strategy=lazy`, `server_replay_reuse`, no refresh, `server_replay_extra=404`: without these it would be
  slower, or not answer. nginx has one worker, the bodies as files, no access log, an EC certificate (P-256); it knows
  no CONNECT, so its TLS is direct, one round trip and one request fewer for each new connection. WireMock and
  mountebank are asked in origin form, TLS direct, without their journals.
- Ready is the time from the start of the program to its first right answer, median of the starts after the first, which
  makes the CA and the index. MB are 10^6 octets resident, all processes of the server.
"""
LIMITS = """\
- Loopback, one machine, two cores: no network, no loss, and the kernel's work for a socket counts on both sides.
- The load sends HTTP/1.1 only; HTTP/2, gRPC, WebSocket and streamed answers are not measured here.
- With 32 connections that always have a request under way a server is saturated, and answers many for each turn of its
  loop. With one connection (`c1`) it is not; see there for what a single client gets.
- A cassette of the bench is regular: its bodies are JSON of one size, its paths differ in a number.
- Latencies are those of a saturated server: they say how long its queue is.
"""


def write(path: Path, told: Mapping[str, Any]) -> None:
    """Make PATH the document of TOLD, with the part by hand that it had."""
    old = path.read_text("utf-8") if path.exists() else ""
    path.write_text(render(told, kept(old)), "utf-8")


def kept(old: str) -> str:
    """What stands between the markers of OLD; raises ValueError where only one of them is there."""
    if BEGIN not in old and END not in old:
        return FIRST
    before, begun, rest = old.partition(BEGIN)
    text, ended, _ = rest.partition(END)
    if not begun or not ended or END in before:
        raise ValueError(f"performance.md: {BEGIN} and {END} are not a pair")
    return text.strip()


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def render(told: Mapping[str, Any], by_hand: str) -> str:
    """The document."""
    setting, machine = told["setting"], told["machine"]
    facts = (
        f"Every figure here comes from one run of `uv run python -m bench{form_of(told)} --document` "
        f"({told['date']}; {setting['rounds']} rounds of {setting['seconds']:g} s; {machine['cores']} cores "
        f"{machine['processor']}, {machine['memory_mb']:,} MB, Linux {machine['kernel']}, load {machine['load']:g}; "
        + ", ".join(f"{name} {version}" for name, version in told["versions"].items())
        + "). This page is written by that command; only the part between the markers is written by hand."
    )
    parts = [
        "# Performance",
        facts,
        "## Verdicts",
        table(VERDICT_HEAD, [verdict_cells(verdict) for verdict in told["verdicts"]]),
        "## Where the time goes",
        f"{BEGIN}\n{by_hand}\n{END}",
        "## Throughput",
        table(ROW_HEAD, [row_cells(row) for row in told["rows"]]),
        "## Ready, and memory",
        table(START_HEAD, [start_cells(start) for start in told["starts"]]),
    ]
    for study in told["studies"]:
        parts += [f"## {study['name'].capitalize()}", f"{sentence(study['what'])}", bullets(study["lines"])]
    parts += ["## Method", METHOD.rstrip(), "## Limits of the measurement", LIMITS.rstrip()]
    if missing := not_measured(told):
        parts.append(bullets(missing))
    return "\n\n".join(parts) + "\n"


def form_of(told: Mapping[str, Any]) -> str:
    """The option that asks for the form of the run."""
    return "" if told["form"] == "default" else f" --{told['form']}"


def sentence(text: str) -> str:
    """TEXT with a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def bullets(lines: Sequence[str]) -> str:
    """LINES as a list."""
    return "\n".join(f"- {line}" for line in lines)
