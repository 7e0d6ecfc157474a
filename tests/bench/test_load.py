"""The load counts right answers and nothing else; the comparison says what it measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from replayproxy.demo.server import Reply, Request, serving

BENCH = Path(__file__).parent.parent.parent / "bench"
BODIES = {"/items/0": "a recorded answer", "/items/1": "another"}
PAUSE_FREE_SECONDS = 0.1


def run(code: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Python with bench/ importable, as its scripts have it."""
    line = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(BENCH)!r})\n{code}"]
    return subprocess.run(line, input=text, capture_output=True, text=True, timeout=50, check=False)


def load(port: int, **more: Any) -> subprocess.CompletedProcess[str]:
    """The load on PORT of loopback."""
    plan = {
        "proxy": ["127.0.0.1", port], "host": "bench.example", "mode": "plain", "ca": "", "connections": 3,
        "seconds": PAUSE_FREE_SECONDS, "bodies": BODIES,
    }  # fmt: skip
    line = [sys.executable, str(BENCH / "load.py")]
    text = json.dumps({**plan, **more})
    return subprocess.run(line, input=text, capture_output=True, text=True, timeout=50, check=False)


def right(request: Request) -> Reply:
    """The recorded answer."""
    return Reply(body=BODIES[request.path].encode())


def test_right_answers_are_counted() -> None:
    """What the load counts, and what it sent before its clock started, is what the server was asked."""
    with serving(right) as server:
        done = load(server.port)
        assert (done.returncode, done.stderr) == (0, "")
        seen = json.loads(done.stdout)
        assert seen["wrong"] == 0
        # Three answers came before the clock started; at most three were under way when it stopped.
        assert 0 < seen["requests"] + 3 <= server.hits <= seen["requests"] + 6
    assert 0 < seen["p50_us"] <= seen["p99_us"]


def after_the_first(reply: Reply) -> Any:
    """A server that gives each path's right answer three times, and REPLY from then on."""
    asked: list[str] = []

    def answer(request: Request) -> Reply:
        asked.append(request.path)
        return right(request) if asked.count(request.path) <= 3 else reply

    return answer


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param(Reply(status=424, body=b"a recorded answer"), "HTTP/1.1 424", id="another status"),
        pytest.param(Reply(body=b"a recorded answer and more"), "the length", id="a longer body"),
        pytest.param(Reply(body=b"A RECORDED ANSWER"), "not the recorded one", id="another body of that length"),
        pytest.param(Reply(body=[b"a recorded ", b"answer"]), "the length", id="chunks"),
    ],
)
@pytest.mark.parametrize("late", [False, True], ids=["at once", "later"])
def test_a_wrong_answer_is_told(reply: Reply, why: str, late: bool) -> None:
    """Status, length and every octet of the body count, on the first answer and on those after it."""
    dispatch = after_the_first(reply) if late else lambda _: reply
    with serving(dispatch) as server:
        done = load(server.port, bodies={"/items/0": BODIES["/items/0"]})
    seen = json.loads(done.stdout)
    assert seen["wrong"] == 3
    assert why in seen["first_wrong"]


def test_nobody_listening_is_an_error() -> None:
    """A load that reaches nobody ends with code 1 and says so, and prints no figures."""
    with serving(right) as server:
        port = server.port
    done = load(port)
    assert (done.returncode, done.stdout) == (1, "")
    assert "refused" in done.stderr


THROUGH_MITMDUMP = """
import json, tempfile
from pathlib import Path
import replay, servers
asked = replay.arguments(["--seconds", "0.1", "--connections", "2"])
bodies = {"/items/0": b"a recorded answer", "/items/1": b"another"}
with tempfile.TemporaryDirectory() as folder:
    with servers.mitmdump("mitmdump", asked.mitmdump, Path(folder) / "m", bodies, None) as server:
        legs = [replay.measure(server, mode, asked, bodies) for mode in replay.MODES]
print(json.dumps([[leg.mode, leg.seen["wrong"], leg.seen["requests"], leg.cpu_seconds] for leg in legs]))
"""


def test_mitmdump_plays_the_flow_file_both_ways() -> None:
    """The base of the comparison answers, plain and through CONNECT, and its processor time is seen."""
    done = run(THROUGH_MITMDUMP)
    assert done.returncode == 0, done.stderr
    legs = json.loads(done.stdout)
    assert [leg[:2] for leg in legs] == [["plain", 0], ["connect", 0]]
    assert all(requests > 0 and cpu > 0 for _, _, requests, cpu in legs)


SUMMARY = """
import json, replay
asked = replay.arguments([])
legs = [
    replay.Leg(name, mode, {"requests": 1000, "seconds": 2.0, "p50_us": 5.0, "p99_us": 9.0}, cpu)
    for mode in replay.MODES
    for name, cpus in (("native", (0.01, 0.02, 0.04)), ("mitmdump", (1.0, 1.0, 1.0)))
    for cpu in cpus
]
summary = replay.summarise(legs, asked)
print(json.dumps(summary))
print(replay.table(summary))
"""


def test_the_ratio_is_the_median_of_the_rounds() -> None:
    """Ratios are formed within a round, on processor time, and told with their range."""
    done = run(SUMMARY)
    assert done.returncode == 0, done.stderr
    text, _, shown = done.stdout.partition("\n")
    rows = {(row["server"], row["mode"]): row for row in json.loads(text)["rows"]}
    native = rows["native", "plain"]
    assert (native["ratio"], native["ratio_range"]) == (50.0, [25.0, 100.0])
    assert (native["requests_per_core_second"], native["requests_per_second"]) == (50000, 500)
    assert rows["mitmdump", "connect"]["requests_per_core_second"] == 1000
    assert "50 (25–100)" in shown
