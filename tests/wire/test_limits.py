"""The bounds of a connection."""

from __future__ import annotations

from dataclasses import fields

from replayproxy.wire.limits import Limits


def test_every_limit_is_documented() -> None:
    """By its name, with its unit, in the docstring that the manual quotes."""
    documentation = Limits.__doc__ or ""
    assert [field.name for field in fields(Limits) if f"`{field.name}`" not in documentation] == []


def test_defaults_bound_everything_but_bodies() -> None:
    """A body has no bound of its own: recordings of uploads are as large as they are."""
    unbounded = [field.name for field in fields(Limits) if not getattr(Limits(), field.name)]
    assert unbounded == ["body_octets"]
