"""What both ends of an HTTP/2 connection share."""

from __future__ import annotations

import h2.connection
import h2.events
import hpack
import hyperframe.exceptions
import pytest

from replayproxy.wire.frames import LONGEST_FRAME, PREFACE, BrokenConnection, Framed, field_lines, text

SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
PING = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + bytes(8)


def server() -> Framed:
    """The server's end of a connection."""
    return Framed(client_side=False, streams=10, header_octets=1000)


@pytest.mark.parametrize("step", [1, 5, 1000])
def test_frames_are_told_as_they_become_whole(step: int) -> None:
    """Part of a frame waits for the rest."""
    connection = server()
    octets = PREFACE + SETTINGS + PING + PING[:5]
    told = [event for at in range(0, len(octets), step) for event in connection.events_in(octets[at : at + step])]
    assert [type(event) for event in told] == [h2.events.RemoteSettingsChanged, h2.events.PingReceived]
    assert connection.partial


def test_what_came_before_a_fault_is_told() -> None:
    """Though it came in one read."""
    connection = server()
    events = connection.events_in(PREFACE + SETTINGS + PING + SETTINGS[:8] + b"\x01")
    told = [next(events), next(events)]
    with pytest.raises(BrokenConnection) as caught:
        next(events)
    assert [type(event) for event in told] == [h2.events.RemoteSettingsChanged, h2.events.PingReceived]
    assert caught.value.why


@pytest.mark.parametrize("error", [hpack.HPACKError("x"), hyperframe.exceptions.HyperframeError("x"), ValueError()])
def test_what_hyper_h2_lets_escape_is_a_fault_too(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries below it raise errors of their own; a client that provokes one gets a GOAWAY."""
    connection = server()

    def escape(_self: Framed, _data: bytes) -> list[h2.events.Event]:
        raise error

    monkeypatch.setattr(h2.connection.H2Connection, "receive_data", escape)
    connection.data_to_send()
    with pytest.raises(BrokenConnection) as caught:
        list(connection.events_in(PREFACE))
    assert caught.value.why
    assert connection.data_to_send()[3] == 7  # GOAWAY


def test_an_overlong_frame_is_refused_by_its_head() -> None:
    """It is not read first, which is what an attacker would have us do."""
    connection = server()
    list(connection.events_in(PREFACE + SETTINGS))
    connection.data_to_send()
    head = (LONGEST_FRAME + 1).to_bytes(3) + b"\x42\x00\x00\x00\x00\x00"
    with pytest.raises(BrokenConnection):
        list(connection.events_in(head))
    assert connection.data_to_send()[3] == 7  # GOAWAY


def test_crumbs_of_cookie_are_joined_where_the_first_was() -> None:
    """RFC 9113 section 8.2.3."""
    raw = [(b":path", b"/"), (b"a", b"1"), (b"cookie", b"x=1"), (b"b", b"2"), (b"cookie", b"y=2")]
    assert text(raw) == (("a", "1"), ("cookie", "x=1; y=2"), ("b", "2"))
    assert text([(b"cookie", b"x=1")]) == (("cookie", "x=1"),)


@pytest.mark.parametrize("field", [("a b", "c"), ("", "c"), ("a", "b\n"), ("a", "b\r"), ("a", "b\0"), ("a", "€")])
def test_fields_that_cannot_be_sent_are_refused(field: tuple[str, str]) -> None:
    """HTTP/2 carries octets by length, but the next hop may not."""
    with pytest.raises(ValueError, match=r"\w"):
        field_lines((field,))


def test_names_are_sent_in_lower_case() -> None:
    """RFC 9113 section 8.2.1."""
    assert field_lines((("X-A", "é"),)) == [(b"x-a", b"\xe9")]
