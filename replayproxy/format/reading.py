"""The values of a cassette file of ours, already checked against the table, to the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replayproxy.core.errors import RightsError
from replayproxy.core.exchange import (
    Binding,
    Cassette,
    Chunk,
    Coding,
    Fault,
    Interaction,
    Interim,
    Origin,
    Redaction,
    Request,
    Response,
    Signature,
    interaction_id,
    split_url,
)
from replayproxy.core.rights import Tag
from replayproxy.format import fields, times
from replayproxy.format.bodies import body_of
from replayproxy.format.document import MisfitError, within

_NOTHING: Mapping[str, Any] = {}


def cassette_of(value: Mapping[str, Any]) -> Cassette:
    """The cassette that VALUE holds; raises MisfitError for a bad time, URL or tag."""
    head = value["replayproxy"]
    signature = head.get("signature")
    return Cassette(
        name=head["name"],
        interactions=_interactions(value["interactions"]),
        rights=_tag(head["rights"], "replayproxy"),
        recorded_us=_time(head, "recorded_at", "replayproxy"),
        tool=head.get("tool", ""),
        salt=head.get("salt", ""),
        digest=head["digest"],
        signature=Signature(signature["keyid"], signature["sig"]) if signature else None,
        note=head.get("note", ""),
        extensions=_extensions(value, head),
    )


def _interactions(values: list[Any]) -> tuple[Interaction, ...]:
    found: list[Interaction] = []
    places: dict[str, int] = {}
    for at, value in enumerate(values):
        with within("interactions", at):
            interaction = interaction_of(value, at)
        if (first := places.setdefault(interaction.id, at)) != at:
            why = f"is the id of interactions[{first}] too"
            raise MisfitError(
                why, ("interactions", at, "replayproxy", "id"), hint="give a copied interaction its own id"
            )
        found.append(interaction)
    return tuple(found)


def interaction_of(value: Mapping[str, Any], at: int) -> Interaction:
    """The interaction that VALUE holds, at place AT of its cassette; raises MisfitError as `cassette_of`."""
    more = value.get("replayproxy", _NOTHING)
    request = _request(value["request"], more.get("request", _NOTHING))
    order = more.get("order", at)
    return Interaction(
        id=more.get("id") or interaction_id(order, request),
        order=order,
        request=request,
        response=_response(value["response"], more.get("response", _NOTHING)),
        started_us=_time(more, "started_at", "replayproxy"),
        first_ms=more.get("first_ms", 0),
        ended_ms=more.get("ended_ms", 0),
        rights=_tag(more["rights"], "replayproxy") if "rights" in more else None,
        redactions=tuple(Redaction(**redaction) for redaction in more.get("redactions", ())),
        proposals=tuple(
            Binding(field=proposal["field"], echoed=tuple(proposal["echoed"])) for proposal in more.get("proposals", ())
        ),
        take=more.get("take", ""),
        scenario=more.get("scenario", ""),
        extensions=_extensions(value, more),
    )


def _request(value: Mapping[str, Any], more: Mapping[str, Any]) -> Request:
    with within("request", "uri"):
        origin, target = located(value["uri"])
    return Request(
        method=value["method"],
        origin=origin,
        target=more.get("target", target),
        headers=_fields(value, more, "request"),
        body=body_of(value.get("replayproxy", value["body"])),
        trailers=_pairs(more.get("trailers", ())),
        version=more.get("version", "HTTP/1.1"),
    )


def located(uri: str) -> tuple[Origin, str]:
    """Origin and target of URI; raises MisfitError where there is none."""
    try:
        return split_url(uri)
    except ValueError as error:
        raise MisfitError(str(error)) from None


def _response(value: Mapping[str, Any], more: Mapping[str, Any]) -> Response:
    body = value["body"]["string"]
    return Response(
        status=value["status"]["code"],
        reason=value["status"]["message"],
        headers=_fields(value, more, "response"),
        body=body_of(body["replayproxy"] if isinstance(body, dict) else body),
        trailers=_pairs(more.get("trailers", ())),
        version=more.get("version", "HTTP/1.1"),
        framing=more.get("framing", "length"),
        interim=tuple(_interim(interim) for interim in more.get("interim", ())),
        chunks=tuple(Chunk(*chunk) for chunk in more.get("chunks", ())),
        coding=_coding(more["coding"]) if "coding" in more else None,
        fault=Fault(**more["fault"]) if "fault" in more else None,
        before_body=more.get("before_body", False),
    )


def _coding(value: Mapping[str, Any]) -> Coding:
    coded = body_of(value["coded"]) if "coded" in value else None
    return Coding(names=tuple(value["names"]), coded=coded)


def _interim(value: Mapping[str, Any]) -> Interim:
    return Interim(status=value["status"], reason=value.get("reason", ""), headers=_pairs(value.get("headers", ())))


def _fields(value: Mapping[str, Any], more: Mapping[str, Any], side: str) -> tuple[tuple[str, str], ...]:
    with within("replayproxy", side, "headers"):
        return fields.from_map(value["headers"], more.get("headers"))


def _pairs(rows: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in rows)


def _time(value: Mapping[str, Any], key: str, *path: str) -> int:
    with within(*path, key):
        return times.from_text(value[key]) if key in value else 0


def _tag(value: Any, *path: str) -> Tag:
    try:
        return Tag.from_dict(value, "rights")
    except RightsError as error:
        raise MisfitError(error.what, (*path, "rights"), hint=error.hint) from None


def _extensions(*places: Mapping[str, Any]) -> tuple[tuple[str, object], ...]:
    outer, inner = places
    return (
        *((key, value) for key, value in outer.items() if key.startswith("x-")),
        *((f"replayproxy.{key}", value) for key, value in inner.items() if key.startswith("x-")),
    )
