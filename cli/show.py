"""`replayproxy show`: interactions for people, with what is masked, what is a time, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from replayproxy.core.canonical import canonical
from replayproxy.core.errors import UsageError
from replayproxy.core.exchange import Body, Headers, Interaction
from replayproxy.core.moments import moments
from replayproxy.core.provider import MatchRules
from replayproxy.core.rights import Tag, lay
from replayproxy.settings import load

from . import render
from .loading import cassette_paths, load_all, size_of
from .options import common, output_format
from .text import moment, printable, shortened

BODY_WIDTH = 2000


def picked(interactions: tuple[Interaction, ...], ids: tuple[str, ...], path: Path) -> list[Interaction]:
    """The interactions that IDS name (by a beginning of the id), or all; raises UsageError for one that is none."""
    for wanted in ids:
        if not any(one.id.startswith(wanted) for one in interactions):
            raise UsageError(f"{path} holds no interaction {wanted}", hint=f"replayproxy show {path} lists them")
    return [one for one in interactions if not ids or any(one.id.startswith(wanted) for wanted in ids)]


def lines_of(one: Interaction, tag: Tag, rules: MatchRules, *, why: bool) -> Iterator[str]:
    """ONE as text, a line each."""
    request, response = one.request, one.response
    yield click.style(printable(f"{one.order}  {one.id}  {request.method} {request.url}"), bold=True)
    yield f"   at {moment(one.started_us)}, answered in {one.ended_ms} ms, {request.version} / {response.version}"
    stated = ", ".join(f"{use} {permission.value}" for use, permission in tag.permissions)
    yield printable(f"   rights: {tag.license or 'untagged'}; {stated or 'nothing is stated'}")
    masked = {redaction.at: redaction.rule for redaction in one.redactions}
    yield from _fields("request", request.headers, masked)
    yield from _body(request.body)
    yield printable(f"   → {response.status} {response.reason}").rstrip()
    if response.fault is not None:
        yield f"   fault: {response.fault.kind} ({response.fault.phase}) after {response.fault.after_ms} ms"
    yield from _fields("response", response.headers, masked)
    yield from _body(response.body)
    yield from _fields("trailer", response.trailers, masked)
    for place, rule in masked.items():
        yield printable(f"   masked: {place} ({rule})")
    for place in moments(one):
        yield printable(f"   time: {place}")
    for proposal in one.proposals:
        places = ", ".join(dict.fromkeys(proposal.echoed))
        yield printable(f"   echoed: {proposal.field} in {places}; match.bind: [{proposal.field!r}] binds it")
    if why:
        yield from _why(one, rules)


def _fields(side: str, headers: Headers, masked: dict[str, str]) -> Iterator[str]:
    for name, value in headers:
        rule = masked.get(f"{side}.header:{name.lower()}")
        yield printable(f"     {name}: {value}") + (click.style(f"  [masked: {rule}]", dim=True) if rule else "")


def _body(body: Body) -> Iterator[str]:
    size = size_of(body)
    if not size:
        return
    if not isinstance(body, bytes):
        yield f"     ({size} octets in the file {body.sha256})"
        return
    try:
        text = body.decode()
    except UnicodeDecodeError:
        yield f"     ({size} octets, not text)"
        return
    for line in printable(shortened(text, BODY_WIDTH)).split("\n"):
        yield f"     {line}"


def _why(one: Interaction, rules: MatchRules) -> Iterator[str]:
    found = canonical(one.request, rules)
    for name, value in found.parts:
        yield printable(f"   matched on: {name} = {shortened(value, 100)}")
    for rule, place in found.dropped:
        yield printable(f"   left out: {place} ({rule})")


def record_of(one: Interaction, tag: Tag, rules: MatchRules) -> dict[str, object]:
    """ONE for programs."""
    found = canonical(one.request, rules)
    return {
        "id": one.id,
        "order": one.order,
        "method": one.request.method,
        "url": one.request.url,
        "status": one.response.status,
        "started_at": moment(one.started_us),
        "masked": [{"at": mask.at, "rule": mask.rule} for mask in one.redactions],
        "times": list(moments(one)),
        "rights": tag.to_dict(),
        "matched_on": [list(part) for part in found.parts],
        "left_out": [{"at": place, "rule": rule} for rule, place in found.dropped],
        "proposals": [{"field": proposal.field, "echoed": list(proposal.echoed)} for proposal in one.proposals],
    }


@click.command("show")
@click.argument("cassette", metavar="CASSETTE")
@click.argument("ids", nargs=-1, metavar="[ID …]")
@click.option("--why", is_flag=True, help="Also what takes part in the match, and which rule left out the rest.")
@output_format
@common
def command(cassette: str, ids: tuple[str, ...], why: bool, output: str, config: Path | None, state_dir: Path) -> None:
    """Show the interactions of CASSETTE: what is masked, what is a time, and under which rights it stands.

    ID is the beginning of an interaction's id; without one all are shown.

    \b
    Examples:
      replayproxy show cassettes/checkout.yaml
      replayproxy show cassettes/checkout.yaml 3f2a --why
    """
    del state_dir
    settings = load(config)
    found = cassette_paths([cassette], settings)
    if len(found) > 1:
        raise UsageError(f"{cassette} holds {len(found)} cassettes", hint=f"name one of them, such as {found[0]}")
    (loaded,) = load_all(found, with_pending=True)
    base = loaded.cassette.rights
    records: list[dict[str, object]] = []
    for one in picked(loaded.cassette.interactions, ids, loaded.path):
        rules = settings.providers.of(one.request.origin.host).match
        tag = lay(one.rights, base)[0] if one.rights else base
        if output == "json":
            records.append(record_of(one, tag, rules))
        else:
            click.echo("\n".join(lines_of(one, tag, rules, why=why)))
    if output == "json":
        render.as_json("replayproxy/show/1", cassette=str(loaded.path), interactions=records)
