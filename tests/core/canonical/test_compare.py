"""What sets two requests apart, and which of several is nearest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replayproxy.core.canonical import Difference, canonical, differences, distance
from replayproxy.core.exchange import Origin, Request

JSON = (("Content-Type", "application/json"),)
BASE = Request(
    method="POST",
    origin=Origin.of("https", "api.test"),
    target="/v1/items/7?page=1",
    headers=JSON,
    body=b'{"applicant":"A","amount":1}',
)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (BASE, ()),
        (replace(BASE, method="PUT"), (Difference("method", "POST", "PUT"),)),
        (replace(BASE, target="/v1/items/7?page=2"), (Difference("query.page", "1", "2"),)),
        (replace(BASE, target="/v1/items/7"), (Difference("query.page", "1", None),)),
        (
            replace(BASE, body=b'{"applicant":"C","amount":1,"x":true}'),
            (Difference("body.$.applicant", '"A"', '"C"'), Difference("body.$.x", None, "true")),
        ),
        (replace(BASE, target="/v1/items/7?page=1&page=2"), (Difference("query.page", "1", "1, 2"),)),
        (
            replace(BASE, target="/v1/items/7?page=%ff" + "x" * 200),
            (Difference("query.page", "1", "\\udcff" + "x" * 114 + "…"),),
        ),
    ],
)
def test_differences(other: Request, expected: tuple[Difference, ...]) -> None:
    """Each field that differs is named, with both values, cut where they are long."""
    assert differences(canonical(BASE), canonical(other)) == expected


def test_no_secret_is_shown() -> None:
    """Credentials are no difference, and no value of another field shows one."""
    one = replace(BASE, body=b'{"password":"hunter2","t":"sk_test_0123456789 a"}')
    other = replace(BASE, body=b'{"password":"hunter3","t":"sk_test_9876543210 b"}')
    found = differences(canonical(one), canonical(other))
    assert [difference.part for difference in found] == ["body.$.t"]
    assert "hunter" not in str(found)
    assert "sk_test" not in str(found)


NEARER = [
    ("the same", BASE),
    ("one body field", replace(BASE, body=b'{"applicant":"C","amount":1}')),
    ("two body fields", replace(BASE, body=b'{"applicant":"C","amount":2}')),
    ("the last of the path", replace(BASE, target="/v1/items/8?page=1")),
    ("more of the path", replace(BASE, target="/v1/users/8?page=1")),
    ("the whole path", replace(BASE, target="/x?page=1")),
    ("host", replace(BASE, origin=Origin.of("https", "other.test"))),
    ("host and path", replace(BASE, origin=Origin.of("https", "other.test"), target="/x")),
]


def test_the_order_of_nearness() -> None:
    """Each of these is farther than the one before; none but the same is at no distance."""
    distances = [distance(canonical(other), canonical(BASE)) for _, other in NEARER]
    assert distances == sorted(distances)
    assert len(set(distances)) == len(distances)
    assert distances[0] == 0


def test_many_fields_do_not_outweigh_a_host() -> None:
    """However much of a body differs, the same API is nearer than another host."""
    other = replace(BASE, body=b'{"k%s":1}' % b'":1,"k'.join(b"%d" % n for n in range(200)))
    foreign = replace(BASE, origin=Origin.of("https", "other.test"))
    assert distance(canonical(other), canonical(BASE)) < distance(canonical(foreign), canonical(BASE))
    assert distance(canonical(BASE), canonical(other)) == distance(canonical(other), canonical(BASE))
