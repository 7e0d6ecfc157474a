"""Header fields: the ordered list of the wire, and the map of name to values that VCR.py reads.

The map holds the values. Where it cannot give the list back (order across names, fields that VCR.py must not
see or must see otherwise), a second list says the order: a name takes the next value that the map has for it,
a pair is a field that the map does not hold, or holds for other readers only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from replayproxy.core.exchange import Headers
from replayproxy.format.document import MisfitError
from replayproxy.format.writer import Flow

type FieldMap = dict[str, list[str]]


def to_map(
    headers: Headers, *, hidden: Collection[str] = (), restated: Mapping[str, str] | None = None
) -> tuple[FieldMap, Flow | None]:
    """HEADERS as map and, where the map does not suffice, order.

    Fields with a name in HIDDEN (lower case) are kept out of the map; those in RESTATED stand there once,
    with the value given.
    """
    fields: FieldMap = {}
    order = Flow()
    changed = dict(restated or {})
    if all(changed.get(name.lower(), value) == value for name, value in headers):
        changed.clear()
    for name, value in headers:
        if name.lower() in hidden:
            order.append(Flow([name, value]))
        elif name.lower() in changed:
            order.append(Flow([name, value]))
            if not any(known.lower() == name.lower() for known in fields):
                fields[name] = [changed[name.lower()]]
        else:
            fields.setdefault(name, []).append(value)
            order.append(name)
    return fields, None if flattened(fields) == headers else order


def flattened(fields: FieldMap) -> Headers:
    """Every field of the map, name by name."""
    return tuple((name, value) for name, values in fields.items() for value in values)


def from_map(fields: FieldMap, order: list[Any] | None) -> Headers:
    """The fields of the wire. Values of the map that the order does not name follow at the end.

    Raises MisfitError where the order names a field that the map has not.
    """
    if order is None:
        return flattened(fields)
    own = {item[0].lower() for item in order if isinstance(item, list)}
    named = {item.lower() for item in order if isinstance(item, str)}
    taken: Counter[str] = Counter()
    headers: list[tuple[str, str]] = []
    for at, item in enumerate(order):
        if isinstance(item, list):
            headers.append((item[0], item[1]))
            continue
        values = fields.get(item, ())
        if taken[item] >= len(values):
            hint = "put the field back into the map or take its name out here"
            raise MisfitError(f"names {item!r}, of which the map has only {len(values)}", (at,), hint=hint)
        headers.append((item, values[taken[item]]))
        taken[item] += 1
    hidden = own - named
    for name, values in fields.items():
        if name.lower() not in hidden:
            headers.extend((name, value) for value in values[taken[name] :])
    return tuple(headers)
