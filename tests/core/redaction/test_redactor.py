"""The law of masking: no secret in what is stored, its shape kept, the same everywhere, and done once."""

from __future__ import annotations

import base64
import gzip
import html
import json
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replayproxy.core import coding
from replayproxy.core.exchange import (
    Chunk,
    Coding,
    Fault,
    Headers,
    Interaction,
    Interim,
    Origin,
    Redaction,
    Request,
    Response,
    header,
    header_values,
)
from replayproxy.core.provider import RedactRule, Selector
from replayproxy.core.redaction import Finding, Redactor
from replayproxy.core.redaction.placeholder import placeholder

SALT = "00112233445566778899aabbccddeeff"
ORIGIN = Origin.of("https", "api.test")
JSON = ("Content-Type", "application/json")
FORM = ("Content-Type", "application/x-www-form-urlencoded")
TEXT = ("Content-Type", "text/plain; charset=utf-8")


def exchange(
    target: str = "/", headers: Headers = (), body: bytes = b"", *, answer: bytes = b"", fields: Headers = (JSON,)
) -> Interaction:
    """A POST and its answer."""
    request = Request(method="POST", origin=ORIGIN, target=target, headers=headers, body=body)
    return Interaction(id="1", order=0, request=request, response=Response(status=200, headers=fields, body=answer))


def octets(body: object) -> bytes:
    """A body that is here."""
    assert isinstance(body, bytes)
    return body


def parts(interaction: Interaction) -> Iterator[str]:
    """All text of an interaction, as octet text; what was recorded about masks too."""
    for message in (interaction.request, interaction.response):
        for fields in (message.headers, message.trailers):
            yield from (value for _, value in fields)
        yield octets(message.body).decode("latin-1")
    yield interaction.request.target
    yield from (value for one in interaction.response.interim for _, value in one.headers)
    yield repr(interaction.redactions)
    held = interaction.response.coding
    if held and held.coded is not None:
        yield octets(held.coded).decode("latin-1")
        yield coding.decode(octets(held.coded), held.names).decode("latin-1")


def spellings(secret: str) -> Iterator[str]:
    """The spellings in which SECRET must not be seen, as octet text."""
    data = secret.encode()
    yield data.decode("latin-1")
    for quoted in (urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret)):
        yield quoted
        yield quoted.lower() if secret.islower() else quoted
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret)[1:-1].replace("/", "\\/")
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + data).decode()
        core = text[(shift * 8 + 5) // 6 : (shift + len(data)) * 8 // 6]
        yield core
        yield core.translate(str.maketrans("+/", "-_"))


def assert_clean(interaction: Interaction, secret: str) -> None:
    """SECRET is in no part of the interaction, in no spelling."""
    seen = list(parts(interaction))
    assert not [(spelled, part) for spelled in spellings(secret) for part in seen if spelled in part]


SECRET = "AT-live/0012+x=="
ESCAPED = json.dumps({"access_token": SECRET}).replace("/", "\\/").encode()


def in_base64(shift: int) -> Callable[[str], bytes]:
    """A text that holds a secret under base64, SHIFT octets after its begin."""
    return lambda secret: b"x " + base64.b64encode(b"." * shift + secret.encode() + b"//") + b" y"


NESTED: dict[str, Callable[[str], bytes]] = {
    "as it is": lambda s: f"see {s}, there".encode(),
    "JSON": lambda s: json.dumps({"note": s}).encode(),
    "JSON, all escaped": lambda s: ('{"note":"' + "".join(f"\\u{ord(c):04X}" for c in s) + '"}').encode(),
    "JSON in JSON": lambda s: json.dumps({"note": json.dumps({"inner": s})}).encode(),
    "percent": lambda s: f"https://x.test/{urllib.parse.quote(s, safe='')}/list".encode(),
    "percent, lower case": lambda s: "".join(f"%{ord(c):02x}" for c in s).encode(),
    "percent in JSON": lambda s: json.dumps({"next": f"/a?b={urllib.parse.quote(s, safe='')}"}).encode(),
    "twice percent": lambda s: urllib.parse.quote(urllib.parse.quote(s, safe=""), safe="").encode(),
    "HTML": lambda s: f"<p title='{html.escape(s)}'>".encode(),
    "base64": in_base64(0),
    "base64, one octet later": in_base64(1),
    "base64, two octets later": in_base64(2),
    "base64 of a URL": lambda s: base64.urlsafe_b64encode(f"user:{s}".encode()).rstrip(b"="),
    "base64 in JSON": lambda s: json.dumps({"blob": base64.b64encode(f'{{"a":"{s}"}}'.encode()).decode()}).encode(),
    "percent-encoded base64": lambda s: urllib.parse.quote(base64.b64encode(f"::{s}".encode()).decode()).encode(),
}


@pytest.mark.parametrize("spelled", NESTED.values(), ids=NESTED)
def test_a_known_secret_is_found_in_every_spelling(spelled: Callable[[str], bytes]) -> None:
    """A credential that was masked once is masked wherever it comes back, and reads as its placeholder there."""
    redactor = Redactor(SALT)
    redactor.redact(exchange(headers=(("X-Api-Key", SECRET),)))
    made = redactor.redact(exchange(answer=spelled(SECRET), fields=(TEXT,)))
    assert_clean(made, SECRET)
    # An escape without a letter in its number does not tell in which case it was written.
    assert octets(made.response.body).lower() == spelled(placeholder(SALT, SECRET)).lower()


FIELDS: dict[str, tuple[Headers, bytes]] = {
    "bearer": ((("Authorization", f"Bearer {SECRET}"),), b""),
    "no scheme": ((("Authorization", SECRET),), b""),
    "basic": ((("Authorization", "Basic " + base64.b64encode(f"user:{SECRET}".encode()).decode()),), b""),
    "basic, key as user": ((("Authorization", "Basic " + base64.b64encode(f"{SECRET}:".encode()).decode()),), b""),
    "basic that is none": ((("Authorization", f"Basic {SECRET}"),), b""),
    "digest": ((("Authorization", f'Digest username="u", nonce="n", response="{SECRET}"'),), b""),
    "vendor": ((("X-Api-Key", SECRET),), b""),
    "vendor with scheme": ((("X-Auth-Token", f"Token {SECRET}"),), b""),
    "cookies": ((("Cookie", f"a=1; sid={SECRET.strip('=')}; b=2"),), b""),
    "JSON": ((JSON,), json.dumps({"a": [{"client_secret": SECRET}]}).encode()),
    "JSON, escaped": ((JSON,), ESCAPED),
    "JSON in JSON": ((JSON,), json.dumps({"body": json.dumps({"password": SECRET})}).encode()),
    "JSON lines": ((("Content-Type", "application/x-ndjson"),), b'{"a":1}\n' + ESCAPED + b"\n"),
    "events": ((("Content-Type", "text/event-stream"),), b"event: a\ndata: " + ESCAPED + b"\n\ndata: [DONE]\n\n"),
    "JSON in base64": ((JSON,), json.dumps({"blob": base64.b64encode(ESCAPED).decode()}).encode()),
    "form": ((FORM,), f"a=b&password={urllib.parse.quote(SECRET, safe='')}&x=1".encode()),
    "form, brackets": ((FORM,), f"user%5Bpassword%5D={urllib.parse.quote(SECRET, safe='')}".encode()),
    "multipart": (
        (("Content-Type", "multipart/form-data; boundary=xyz"),),
        f'--xyz\r\nContent-Disposition: form-data; name="password"\r\n\r\n{SECRET}\r\n--xyz--\r\n'.encode(),
    ),
    "XML": (
        (("Content-Type", "application/xml"),),
        f"<?xml version='1.0'?><r><SecretAccessKey>{SECRET}</SecretAccessKey></r>".encode(),
    ),
    "XML attribute": ((("Content-Type", "text/xml"),), f'<r password="{SECRET}"/>'.encode()),
    "script": ((("Content-Type", "text/html"),), f'<script>x = {{"api_key": "{SECRET}"}}</script>'.encode()),
}


@pytest.mark.parametrize(("headers", "body"), FIELDS.values(), ids=FIELDS)
def test_fields_are_masked_by_their_names(headers: Headers, body: bytes) -> None:
    """A credential that is named so is masked, in place and at its length, and is known from then on."""
    redactor = Redactor(SALT)
    secret = SECRET.strip("=") if any(name == "Cookie" for name, _ in headers) else SECRET
    made = redactor.redact(exchange(headers=headers, body=body))
    assert_clean(made, secret)
    assert made.redactions
    for (name, value), (old_name, old) in zip(made.request.headers, headers, strict=True):
        assert (name, len(value)) == (old_name, len(old))
    assert len(octets(made.request.body)) == len(body)
    again = redactor.redact(exchange(answer=f"see {secret}".encode(), fields=(TEXT,)))
    assert_clean(again, secret)


@pytest.mark.parametrize("place", ["/x?api_key={}&a=1", "/x?a=1&access_token={}", "/x?b=c&client%5Fsecret={}&&d"])
def test_queries_are_masked_by_their_names(place: str) -> None:
    """The rest of the target stays, octet for octet."""
    target = place.format(urllib.parse.quote(SECRET, safe=""))
    made = Redactor(SALT).redact(exchange(target))
    assert_clean(made, SECRET)
    assert made.request.target == place.format(urllib.parse.quote(placeholder(SALT, SECRET), safe=""))


def test_basic_decodes_to_the_masked_password() -> None:
    """Of Basic credentials the user stays; the coded form is known too."""
    coded = base64.b64encode(b"user:PAT-live-0009").decode()
    redactor = Redactor(SALT)
    made = redactor.redact(exchange(headers=(("Authorization", f"Basic {coded}"),)))
    value = (header(made.request.headers, "authorization") or "").removeprefix("Basic ")
    assert base64.b64decode(value).decode() == "user:" + placeholder(SALT, "PAT-live-0009")
    echoed = redactor.redact(exchange(answer=json.dumps({"sent": coded}).encode()))
    assert json.loads(octets(echoed.response.body)) == {"sent": value}


def test_a_jwt_keeps_header_and_claims() -> None:
    """Only its signature is masked, in a header, in a body, and in a URL."""
    claims = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIiwibmFtZSI6IkEifQ."
    signature = "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
    made = Redactor(SALT).redact(
        exchange(
            f"/x?access_token={claims}{signature}",
            (("Authorization", f"Bearer {claims}{signature}"),),
            answer=json.dumps({"id_token": claims + signature, "other": claims + signature}).encode(),
        )
    )
    assert_clean(made, signature)
    stands = claims + placeholder(SALT, signature)
    assert made.request.target == f"/x?access_token={stands}"
    assert header(made.request.headers, "authorization") == f"Bearer {stands}"
    assert json.loads(octets(made.response.body)) == {"id_token": stands, "other": stands}
    unsecured = exchange(headers=(("Authorization", f"Bearer {claims}"),))
    assert Redactor(SALT).redact(unsecured) == unsecured


def test_cookies_keep_names_and_attributes() -> None:
    """Of a cookie the value is masked, and what the client sends back is the same."""
    redactor = Redactor(SALT)
    issued = ("Set-Cookie", "sid=SID-live-0003; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/; HttpOnly")
    gone = ("Set-Cookie", "old=; Max-Age=0")
    made = redactor.redact(exchange(fields=(issued, gone)))
    first, second = header_values(made.response.headers, "set-cookie")
    value = placeholder(SALT, "SID-live-0003")
    assert first == issued[1].replace("SID-live-0003", value)
    assert second == gone[1]
    for sent in ("SID-live-0003", value):
        back = redactor.redact_request(exchange(headers=(("Cookie", f"sid={sent}"),)).request)
        assert header(back.headers, "cookie") == f"sid={value}"


def test_a_mask_follows_the_value_into_the_next_url() -> None:
    """The client builds a URL from a masked answer; it is the one that was recorded."""
    secret = "tok_live_9f8e7d6c5b4a39281706f5e4"
    redactor = Redactor(SALT)
    body = json.dumps({"access_token": secret, "next": f"http://api.test/files/{secret}/list?key={secret}"}).encode()
    answer = json.loads(octets(redactor.redact(exchange(answer=body)).response.body))
    recorded = redactor.redact(exchange(f"/files/{secret}/list?key={secret}"))
    target = answer["next"].removeprefix("http://api.test")
    assert recorded.request.target == target
    later = Redactor(SALT, placeholders=[answer["access_token"]])
    for asked in (target, f"/files/{secret}/list?key={secret}"):
        assert later.redact_request(exchange(asked).request).target == target


BODIES = [b"\xff\xd8\xff=&", b"", b"a&b=1", b"=", b"password", b"password=", b"&&password=&", b"\xffpassword=x123456"]


@pytest.mark.parametrize("body", BODIES)
def test_a_form_that_names_no_secret_stays(body: bytes) -> None:
    """Octet for octet, whatever it is."""
    plain = exchange(headers=(FORM,), body=body)
    assert Redactor(SALT).redact(plain) == plain


ORDINARY = {
    "paging": {"next_page_token": "CAUQAA", "nextToken": "abc123def456abc123def456", "max_tokens": 100},
    "OAuth": {"token_type": "bearer", "expires_in": 3600, "scope": "read write"},
    "schema": {"properties": {"password": {"type": "string"}, "api_key": {"type": "string"}}},
    "type names": {"access_token": "string", "password": "required"},
    "errors": {"errors": {"password": "can't be blank"}, "code": "invalid_grant"},
    "log probabilities": {"logprobs": [{"token": "Hello", "logprob": -0.1, "bytes": [72]}]},
    "prompt": {"messages": [{"role": "user", "content": "What is a password? Is `api_key` a token?"}]},
    "ids": {"id": "chatcmpl-9aBcDeFgHiJkLmNoPqRsTuVwXyZ12", "node_id": "MDEwOlJlcG9zaXRvcnkxMjk2MjY5"},
    "no strings": {"password": None, "secret": True, "token": 5, "api_key": {}, "client_secret": []},
    "empty": {"password": "", "access_token": ""},
    "folder": {"pwd": "/home/user/project1"},
    "commit": {"sha": "6dcb09b5b57875f334f61aebed695e2e4193db5e", "key": "mit"},
    "published": {"publishable_key": "pk_test_TYooMQauvdEDq54NiTphI7jx"},
}


@pytest.mark.parametrize("document", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_values_stay(document: object) -> None:
    """Masking what is no secret breaks the application that reads it."""
    plain = exchange(answer=json.dumps(document).encode())
    assert Redactor(SALT).redact(plain) == plain


def test_a_word_is_masked_where_it_is_named_and_as_a_word_only() -> None:
    """A password that is a word does not tear other words apart; one that means nothing is not looked for."""
    redactor = Redactor(SALT)
    made = redactor.redact(
        exchange(headers=(FORM,), body=b"password=horses", answer=b'{"text": "horses, seahorses, (horses)"}')
    )
    stands = placeholder(SALT, "horses")
    assert made.request.body == f"password={stands}".encode()
    assert made.response.body == f'{{"text": "{stands}, seahorses, ({stands})"}}'.encode()
    weak = redactor.redact(exchange(headers=(FORM,), body=b"password=secret", answer=b'{"text": "secret"}'))
    assert weak.response.body == b'{"text": "secret"}'
    assert weak.request.body != b"password=secret"


def test_json_keeps_every_other_octet() -> None:
    """A value is changed where it stands; order, numbers, spaces and repeated names stay."""
    body = b'{"z":1,"a":1.0, "big":12345678901234567890,"password":"hunter-2-x","u":"\\u00e9","dup":1,"dup":2}\n'
    made = Redactor(SALT).redact(exchange(answer=body))
    assert made.response.body == body.replace(b"hunter-2-x", placeholder(SALT, "hunter-2-x").encode())
    assert made.redactions == (
        Redaction(at="response.body:$.password", rule="password", placeholder=placeholder(SALT, "hunter-2-x")),
    )


CODED = json.dumps({"access_token": SECRET, "more": "v" * 90}).encode()


def test_the_octets_of_the_wire_go_with_the_secret() -> None:
    """A coded body that changed keeps its coding, loses its coded octets, and its digests are those of the new."""
    wire = gzip.compress(CODED)
    fields = (("Content-Encoding", "gzip"), ("Content-Length", str(len(wire))), ("Content-MD5", "x"))
    plain = exchange()
    response = Response(
        status=200,
        headers=fields,
        body=CODED,
        coding=Coding(names=("gzip",), coded=wire),
        chunks=(Chunk(20, 1, 30), Chunk(len(CODED) - 20, 2, len(wire) - 30)),
    )
    made = Redactor(SALT).redact(replace(plain, response=response)).response
    assert made.coding == Coding(names=("gzip",))
    assert made.chunks == (Chunk(20, 1), Chunk(len(CODED) - 20, 2))
    assert header(made.headers, "content-md5") is None
    whole = Redactor(SALT).redact(replace(plain, response=replace(response, chunks=()))).response
    sent = coding.encode(octets(whole.body), ("gzip",))
    assert header(whole.headers, "content-length") == str(len(sent))
    assert header(whole.headers, "content-md5") != "x"


def test_a_coded_request_is_coded_again() -> None:
    """A request's body is masked under its coding; its length and digest are those of the new octets."""
    length = str(len(gzip.compress(CODED)))
    headers = (JSON, ("Content-Encoding", "gzip"), ("Content-Length", length), ("X-Amz-Checksum-Crc32c", "x"))
    made = Redactor(SALT).redact(exchange(headers=headers, body=gzip.compress(CODED))).request
    assert json.loads(gzip.decompress(octets(made.body)))["access_token"] == placeholder(SALT, SECRET)
    assert header(made.headers, "content-length") == str(len(octets(made.body)))
    assert header(made.headers, "x-amz-checksum-crc32c") is None
    wrong = exchange(headers=headers, body=b'{"plain":1}')
    assert Redactor(SALT).redact(wrong) == wrong
    quiet = exchange(headers=headers, body=gzip.compress(b'{"plain":1}'))
    assert Redactor(SALT).redact(quiet) == quiet


def test_a_cut_off_coding_is_masked_too() -> None:
    """A body whose coding was cut off still holds its beginning, and the fault stays one."""
    wire = gzip.compress(CODED)
    fields = (JSON, ("Content-Encoding", "gzip"), ("Content-Length", str(len(wire))))
    cut = Response(status=200, headers=fields, body=wire[:-12], fault=Fault(kind="truncated", phase="body"))
    made = Redactor(SALT).redact(replace(exchange(), response=cut)).response
    kept = coding.decode_prefix(octets(made.body), ("gzip",))
    assert kept.startswith(f'{{"access_token": "{placeholder(SALT, SECRET)}"'.encode())
    assert SECRET.encode() not in kept
    assert int(header(made.headers, "content-length") or 0) > len(octets(made.body))


def test_a_file_of_gzip_is_masked_inside() -> None:
    """gzip that is the body itself, and no coding of it, is looked into."""
    fields = (("Content-Type", "application/json"), ("Content-Length", str(len(gzip.compress(CODED)))))
    made = Redactor(SALT).redact(exchange(answer=gzip.compress(CODED), fields=fields)).response
    assert json.loads(gzip.decompress(octets(made.body)))["access_token"] == placeholder(SALT, SECRET)
    assert header(made.headers, "content-length") == str(len(octets(made.body)))


def test_a_secret_over_two_pieces() -> None:
    """Pieces are joined before they are read; their sizes still add up."""
    body = json.dumps({"access_token": SECRET}).encode()
    response = Response(status=200, headers=(JSON,), body=body, chunks=(Chunk(20, 1), Chunk(len(body) - 20, 5)))
    made = Redactor(SALT).redact(replace(exchange(), response=response)).response
    assert made.chunks == response.chunks
    assert len(octets(made.body)) == len(body)


def test_trailers_and_interim_answers() -> None:
    """Fields are fields wherever they come."""
    made = Redactor(SALT).redact(
        replace(
            exchange(),
            request=replace(exchange().request, trailers=(("X-Api-Key", SECRET),)),
            response=Response(
                status=200,
                trailers=(("X-Auth-Token", SECRET),),
                interim=(Interim(status=103, headers=(("Link", f"</{SECRET}>"),)),),
            ),
        )
    )
    assert_clean(made, SECRET)


def test_what_a_redirect_carries() -> None:
    """The query of a Location is read by its names; what is around the URL stays."""
    code = "4/0AY0e-g7aBcDeFgHiJk"
    fields = (
        ("Location", f"https://app.test/cb?code={code}&state=1"),
        ("Link", '<https://a.test/?token=x>; rel="next"'),
    )
    made = Redactor(SALT).redact(exchange(fields=fields)).response
    assert made.headers == (("Location", f"https://app.test/cb?code={placeholder(SALT, code)}&state=1"), fields[1])


RULES = {
    "header": (RedactRule(at=Selector.parse("header:X-Tenant")), exchange(headers=(("x-tenant", "acme-0001"),))),
    "query": (RedactRule(at=Selector.parse("query:user")), exchange("/x?user=acme-0001")),
    "form": (RedactRule(at=Selector.parse("form:user")), exchange(headers=(FORM,), body=b"user=acme-0001")),
    "json": (RedactRule(at=Selector.parse("json:$..user")), exchange(answer=b'{"a":[{"user":"acme-0001"}]}')),
    "json subtree": (RedactRule(at=Selector.parse("json:$.a")), exchange(answer=b'{"a":[{"user":"acme-0001"}]}')),
    "path": (RedactRule(at=Selector.parse("path:/users/([^/]+)")), exchange("/users/acme-0001/x")),
    "pattern": (RedactRule(pattern="acme-[0-9]+"), exchange(answer=b"hello acme-0001 there", fields=(TEXT,))),
    "group": (RedactRule(pattern="hello ([a-z0-9-]+)"), exchange(answer=b"hello acme-0001 there", fields=(TEXT,))),
    "wide": (RedactRule(pattern="ü ([a-z0-9-]+)"), exchange(answer="ü acme-0001".encode(), fields=(TEXT,))),
    "octets": (RedactRule(pattern="acme-[0-9]+"), exchange(answer=b"\xff acme-0001", fields=(TEXT,))),
}


@pytest.mark.parametrize(("rule", "plain"), RULES.values(), ids=RULES)
def test_rules_of_the_user_add_to_the_built_in_ones(rule: RedactRule, plain: Interaction) -> None:
    """A place or a pattern of the user's is masked for the host it is for, and known from then on."""
    redactor = Redactor(SALT, lambda host: (rule,) if host == "api.test" else ())
    assert Redactor(SALT, lambda _: ()).redact(plain) == plain
    made = redactor.redact(plain)
    assert_clean(made, "acme-0001")
    assert {one.rule for one in made.redactions} == {"user-rule"}
    other = redactor.redact(exchange(answer=b"see acme-0001", fields=(TEXT,)))
    assert_clean(other, "acme-0001")


def test_numbers_that_the_user_selects_stay_numbers() -> None:
    """A number keeps its digits' count and its sign; words say nothing and stay."""
    rule = RedactRule(at=Selector.parse("json:$.*"))
    body = b'{"a": -12345, "b": 12, "c": 0, "d": true, "e": null, "f": 1.5, "g": 11}'
    redactor = Redactor(SALT, lambda _: (rule,))
    made = redactor.redact(exchange(answer=body))
    document = json.loads(octets(made.response.body))
    assert document["a"] < -9999
    assert document["a"] != -12345
    assert (document["b"], document["c"], document["d"], document["e"], document["f"]) == (11, 0, True, None, 1.5)
    assert redactor.redact(made) == made


def test_what_was_masked_is_told_once_and_in_order() -> None:
    """Redactions are sorted, each place and rule once, and never hold the secret."""
    made = Redactor(SALT).redact(
        exchange(
            f"/x?api_key={SECRET}&q=1",
            (("X-Api-Key", SECRET),),
            answer=json.dumps({"b": SECRET, "a": SECRET, "token": "x"}).encode(),
        )
    )
    stands = placeholder(SALT, SECRET)
    assert [(one.at, one.rule) for one in made.redactions] == [
        ("request.header:x-api-key", "key"),
        ("request.query:api_key", "key"),
        ("response.body", "known-value"),
    ]
    assert {one.placeholder for one in made.redactions} == {stands}


def test_a_wide_secret_is_told_as_text() -> None:
    """A placeholder of text outside ASCII is text, and known as it was told."""
    made = Redactor(SALT).redact(exchange(answer=json.dumps({"password": "Пароль-1234"}).encode()))
    (told,) = made.redactions
    assert json.loads(octets(made.response.body)) == {"password": told.placeholder}
    assert len(told.placeholder) == len("Пароль-1234")
    assert Redactor(SALT, placeholders=[told.placeholder]).redact(made) == made
    assert Redactor(SALT).scan(made) == ()


def test_scan_finds_what_was_put_in_by_hand() -> None:
    """A stored interaction is clean; a credential that is no placeholder is found, and not repeated."""
    plain = exchange(headers=(("Authorization", f"Bearer {SECRET}"),), answer=ESCAPED)
    made = Redactor(SALT).redact(plain)
    assert Redactor(SALT).scan(made) == ()
    touched = replace(made, request=replace(made.request, headers=(("Authorization", f"Bearer {SECRET}x"),)))
    assert Redactor(SALT).scan(touched) == (Finding(rule="authorization", at="request.header:authorization"),)
    assert SECRET not in repr(Redactor(SALT).scan(plain))
    assert {one.at for one in Redactor(SALT).scan(plain)} == {
        "request.header:authorization",
        "response.body:$.access_token",
    }


def test_a_look_up_teaches_nothing() -> None:
    """What a request at match time holds is masked in it, and forgotten."""
    redactor = Redactor(SALT)
    asked = exchange(f"/{SECRET}", (("X-Api-Key", SECRET),)).request
    masked = redactor.redact_request(asked)
    assert masked.target == f"/{placeholder(SALT, SECRET)}"
    quiet = exchange(f"/{SECRET}").request
    assert redactor.redact_request(quiet) is quiet
    known = Redactor(SALT, placeholders=[placeholder(SALT, SECRET)])
    assert known.redact_request(masked) is masked
    assert known.redact_request(quiet).target == masked.target


def test_what_comes_late_is_masked_early() -> None:
    """A credential that only the end of an answer names is masked in the request before it, and in a chain too."""
    chain = {"password": "AAAA-0001", "note": "AAAA-0001:BBBB-0002", "client_secret": "BBBB-0002"}
    made = Redactor(SALT).redact(exchange("/x/BBBB-0002/AAAA-0001", answer=json.dumps(chain).encode()))
    assert_clean(made, "AAAA-0001")
    assert_clean(made, "BBBB-0002")
    asked = Redactor(SALT).redact_request(exchange("/x/BBBB-0002", (JSON,), json.dumps(chain).encode()).request)
    assert asked.target == f"/x/{placeholder(SALT, 'BBBB-0002')}"


def test_a_body_in_windows() -> None:
    """A body that is too large to be held is masked as it comes, by the rules of its host, and teaches."""
    rule = RedactRule(pattern="acme-[0-9]+")
    redactor = Redactor(SALT, lambda host: (rule,) if host == "api.test" else ())
    stream = redactor.stream("api.test", "text/plain")
    assert stream.feed(b"to acme-0001, ") + stream.finish() == f"to {placeholder(SALT, 'acme-0001')}, ".encode()
    assert {mask.rule for _, mask in stream.notes} == {"user-rule"}
    assert_clean(redactor.redact(exchange("/acme-0001")), "acme-0001")


def test_many_known_secrets() -> None:
    """A recording with hundreds of tokens still finds each."""
    redactor = Redactor(SALT)
    tokens = [f"session-{n:05}-{n * 7919 % 10007:05}" for n in range(60)]
    for token in tokens:
        redactor.redact(exchange(headers=(("X-Api-Key", token),)))
    made = redactor.redact(exchange(answer=json.dumps(tokens).encode()))
    assert json.loads(octets(made.response.body)) == [placeholder(SALT, token) for token in tokens]


def test_two_secrets_in_one_base64() -> None:
    """Secrets that share a group of base64 are both masked."""
    redactor = Redactor(SALT)
    redactor.redact(exchange(headers=(("X-Api-Key", "FIRST-0001"), ("X-Auth-Token", "SECOND-0002"))))
    made = redactor.redact(exchange(answer=base64.b64encode(b"FIRST-0001:SECOND-0002"), fields=(TEXT,)))
    first, second = placeholder(SALT, "FIRST-0001"), placeholder(SALT, "SECOND-0002")
    assert base64.b64decode(octets(made.response.body)).decode() == f"{first}:{second}"


SECRETS = st.from_regex(r"[A-Za-z0-9/+_.-]{4,30}[0-9][a-z]={0,2}", fullmatch=True)
PLACES = st.sampled_from(sorted(NESTED))


@settings(max_examples=60, deadline=None)
@given(SECRETS, PLACES, st.sampled_from(["header", "json", "query", "form"]))
@example("0000000a", "base64, one octet later", "json")
def test_no_secret_is_stored(secret: str, place: str, kind: str) -> None:
    """Wherever a secret is named, and however it comes back: it is gone, lengths stay, and again changes nothing."""
    plain = {
        "header": lambda: exchange(headers=(("X-Api-Key", secret),)),
        "json": lambda: exchange(headers=(JSON,), body=json.dumps({"access_token": secret}).encode()),
        "query": lambda: exchange(f"/?access_token={urllib.parse.quote(secret, safe='')}"),
        "form": lambda: exchange(headers=(FORM,), body=f"access_token={urllib.parse.quote(secret, safe='')}".encode()),
    }[kind]()
    answer = NESTED[place](secret)
    plain = replace(plain, response=Response(status=200, headers=(TEXT,), body=answer))
    made = Redactor(SALT).redact(plain)
    assert_clean(made, secret)
    assert len(octets(made.response.body)) == len(answer)
    assert len(made.request.target) == len(plain.request.target)
    assert len(octets(made.request.body)) == len(octets(plain.request.body))
    assert Redactor(SALT).redact(made) == made
    assert Redactor(SALT).scan(made) == ()
    assert Redactor(SALT).redact(plain) == made
    known = [one.placeholder for one in made.redactions]
    assert Redactor(SALT, placeholders=known).redact_request(made.request) == made.request


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=120), st.sampled_from([JSON, FORM, TEXT, ("Content-Type", "multipart/form-data; boundary=b")])
)
def test_any_body_is_read(body: bytes, kind: tuple[str, str]) -> None:
    """Whatever the octets: masking does not fail, and done again changes nothing."""
    made = Redactor(SALT).redact(exchange(headers=(kind,), body=body, answer=body, fields=(kind,)))
    assert Redactor(SALT).redact(made) == made
