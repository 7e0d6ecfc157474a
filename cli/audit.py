"""`replayproxy audit`, first part: may these cassettes be used for a purpose?

Each interaction is judged by its tag, each cassette by its worst interaction and its digest. Policies of the user's
own, exceptions, terms, signatures and other outputs are not part of this version.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from replayproxy.core.rights import Finding, findings, lay
from replayproxy.settings import load
from replayproxy.store import Loaded, check

from . import render
from .days import today
from .loading import cassette_paths, load_all
from .options import common, output_format, say

HEADINGS = ("VERDICT", "CASSETTE", "INTERACTIONS", "WHY", "FIX")
BITS = {"tampered": 8, "deny": 16, "expired": 32, "needs-review": 64}
WORST_FIRST = ("tampered", "deny", "expired", "needs-review", "allow")


def judge(one: Loaded, purpose: str, date: str) -> tuple[tuple[render.Cell, ...], set[str]]:
    """The line of a cassette, and every verdict that occurs in it."""
    cassette = one.cassette
    found: dict[str, Finding] = {}
    tags = dict.fromkeys(interaction.rights for interaction in cassette.interactions) or {None: None}
    for own in tags:
        tag, widenings = lay(own, cassette.rights) if own else (cassette.rights, ())
        for finding in (*widenings, *findings(tag, purpose, date)):
            found.setdefault(f"{finding.level} {finding}", finding)
    damages = check(one)
    verdicts = {finding.level for finding in found.values()} | {"tampered" for _ in damages}
    verdict = next((level for level in WORST_FIRST if level in verdicts), "allow")
    reasons = [damage.what for damage in damages] + [str(finding) for finding in found.values()]
    hints = dict.fromkeys(finding.hint for finding in found.values() if finding.hint)
    row = (verdict, str(one.path), len(cassette.interactions), "; ".join(reasons) or "-", "; ".join(hints) or "-")
    return row, verdicts


def masked(fail_on: tuple[str, ...]) -> int:
    """The bits of the exit code that FAIL_ON leaves; all of them without it."""
    return sum(BITS[level] for level in dict.fromkeys(fail_on or BITS))


@click.command("audit")
@click.argument("paths", nargs=-1, metavar="[PATH …]")
@click.option("--purpose", required=True, metavar="P", help="What the recordings will be used for.")
@click.option("--as-of", default=None, metavar="DATE", help="Judge as on this day (YYYY-MM-DD).  [default: today, UTC]")
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(list(BITS)),
    help="Only these verdicts make the exit code (repeatable).  [default: all]",
)
@output_format
@common
def command(
    paths: tuple[str, ...],
    purpose: str,
    as_of: str | None,
    fail_on: tuple[str, ...],
    output: str,
    config: Path | None,
    state_dir: Path,
) -> int:
    """Say whether cassettes may be used for a purpose: local-debug, internal-training, ship-to-customer, open-source.

    Ends with 0 if all may, else with the sum of 8 tampered, 16 denied, 32 expired, 64 needs review. What nobody has
    decided needs review, and blocks. This is not legal advice.

    \b
    Examples:
      replayproxy audit cassettes/ --purpose ship-to-customer
      replayproxy audit cassettes/ --purpose internal-training --fail-on deny --fail-on expired
    """
    del state_dir
    date = _date(as_of) if as_of else today()
    judged = [judge(one, purpose, date) for one in load_all(cassette_paths(paths, load(config)))]
    verdicts: set[str] = set().union(*(found for _, found in judged))
    rows = sorted((row for row, _ in judged), key=lambda row: WORST_FIRST.index(str(row[0])))
    if output == "json":
        cassettes = render.records(HEADINGS, rows)
        render.as_json("replayproxy/audit/1", purpose=purpose, as_of=date, cassettes=cassettes)
    else:
        render.table(HEADINGS, rows)
        say(f"{sum(row[0] != 'allow' for row in rows)} of {len(rows)} cassettes block {purpose!r}")
    return sum(BITS[level] for level in verdicts) & masked(fail_on)


def _date(text: str) -> str:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a date, for example 2026-12-01", param_hint="--as-of") from None
