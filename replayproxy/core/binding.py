"""Values that the client made up: left out of the key, and put where the recording echoed them.

`bound` works on places in the text, so that every octet that is no echo stays as it was recorded.
`docs/matching.md` says which occurrence of a value counts as an echo.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import quote, quote_plus

from replayproxy.core.canonical.draft import BUILT_IN, Plan, plan_of
from replayproxy.core.canonical.fields import fields_of
from replayproxy.core.canonical.json_text import Leaf, leaves
from replayproxy.core.canonical.json_value import number
from replayproxy.core.canonical.jsonpath import JsonPath, Path, spelled
from replayproxy.core.canonical.multipart import media_type
from replayproxy.core.canonical.rules import RULES, header_rule
from replayproxy.core.canonical.values import Value, form_fields, json_leaves, text_value, values
from replayproxy.core.credentials import names_credential, shapes
from replayproxy.core.exchange import Binding, Chunk, Headers, Interaction, Request, Response, header
from replayproxy.core.provider import MatchRules, Selector

REQUEST_ID_HEADERS = frozenset(name for rule in RULES if rule.id == "request-id" for name in rule.headers)
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4}))"
"""No letter or digit before, save the last of a percent or JSON escape."""
_NOT_FOR_HEADERS = re.compile(r"[\r\n\0]")
_PROPOSED_HEADERS = frozenset({"other-header", "idempotency-key", "trace"})
_CONSTANT_HEADERS = frozenset({"origin", "referer", "x-requested-with"})
_SHORTEST = 8
_MOST_PLACES = 8


@dataclass(frozen=True, slots=True)
class Echo:
    """A recorded value, the caller's, and the field's name; `is_rpc` for the id of a JSON-RPC message."""

    name: str
    recorded: Value
    caller: Value
    is_rpc: bool = False


def is_distinctive(text: str) -> bool:
    """Whether TEXT cannot well stand in an answer by chance.

    It has 20 characters or more, or 8 with a digit and something else; and it is no number.
    """
    if len(text) < _SHORTEST or _JSON_NUMBER.fullmatch(text) or text.isdigit():
        return False
    return len(text) >= 20 or any(character.isdigit() for character in text)


def bound(recorded: Interaction, caller: Request, rules: MatchRules = BUILT_IN) -> Response:
    """The recorded response with CALLER's values where it echoes the recorded request's.

    The very response where nothing is bound or nothing was echoed.
    """
    echoes = list(_echoes(recorded.request, caller, rules))
    response = recorded.response
    if not echoes:
        return response
    headers = _bound_headers(response.headers, echoes)
    trailers = _bound_headers(response.trailers, echoes)
    if headers != response.headers or trailers != response.trailers:
        response = replace(response, headers=headers, trailers=trailers)
    return _with_body(response, echoes)


def _with_body(response: Response, echoes: list[Echo]) -> Response:
    body = response.body
    if not isinstance(body, bytes) or not body:
        return response
    edits = _body_edits(body, header(response.headers, "content-type") or "", echoes)
    if not edits:
        return response
    pieces: list[bytes] = []
    at = 0
    for start, end, octets in edits:
        pieces += (body[at:start], octets)
        at = end
    changed = b"".join([*pieces, body[at:]])
    headers = response.headers
    if response.coding is None:
        old, new = str(len(body)), str(len(changed))
        headers = tuple((n, new if n.lower() == "content-length" and v == old else v) for n, v in headers)
    coding = None if response.coding is None else replace(response.coding, coded=None)
    chunks = _resized(response.chunks, edits)
    return replace(response, headers=headers, body=changed, coding=coding, chunks=chunks)


type Edit = tuple[int, int, bytes]


def _resized(chunks: tuple[Chunk, ...], edits: list[Edit]) -> tuple[Chunk, ...]:
    """CHUNKS of the body after EDITS; an edit over the border of two chunks goes to the later one."""
    resized: list[Chunk] = []
    old = new = 0
    for position, chunk in enumerate(chunks):
        old += chunk.size
        moved = _moved(old, edits, position == len(chunks) - 1)
        resized.append(Chunk(moved - new, chunk.at_ms))
        new = moved
    return tuple(resized)


def _moved(offset: int, edits: list[Edit], is_end: bool) -> int:
    moved = offset
    for start, end, octets in edits:
        if end <= offset or (is_end and start < offset):
            moved += len(octets) - (end - start)
        elif start < offset:
            return moved - (offset - start)
    return moved


def _echoes(recorded: Request, caller: Request, rules: MatchRules) -> Iterator[Echo]:
    for selector in rules.bind:
        yield from _paired(_name(selector), values(recorded, selector), values(caller, selector))
    plan = plan_of(rules)
    for name in dict.fromkeys(name.lower() for name, _ in recorded.headers):
        selector = Selector("header", name)
        if name in REQUEST_ID_HEADERS and _is_built_in("request-id", selector, plan, rules):
            yield from _paired(name, values(recorded, selector), values(caller, selector))
    if _is_built_in("jsonrpc-id", Selector("json", "$.id"), plan, rules):
        yield from _paired("id", _rpc_ids(recorded), _rpc_ids(caller), is_rpc=True)


def _is_built_in(rule: str, selector: Selector, plan: Plan, rules: MatchRules) -> bool:
    """Whether the built-in RULE binds SELECTOR: not where the user takes it back, or has it ignored and no more."""
    return not plan.keeps(rule, str(selector)) and selector not in rules.ignore


def _rpc_ids(request: Request) -> list[Value]:
    """The ids of a JSON-RPC 2.0 request, or of each in a batch."""
    if not isinstance(request.body, bytes) or b'"jsonrpc"' not in request.body:
        return []
    found = json_leaves(request)
    envelopes = {leaf.path[:-1] for leaf in found if leaf.path[-1:] == ("jsonrpc",) and leaf.text == "2.0"}
    return [
        Value(leaf.text, leaf.token, leaf.kind, leaf.path)
        for leaf in found
        if _is_rpc_place(leaf.path) and leaf.path[:-1] in envelopes
    ]


def _is_rpc_place(path: Path) -> bool:
    """Whether the id of a JSON-RPC message stands at PATH: `$.id`, or `$[3].id` in a batch."""
    return path[-1:] == ("id",) and (len(path) == 1 or (len(path) == 2 and isinstance(path[0], int)))


def _paired(name: str, recorded: list[Value], caller: list[Value], *, is_rpc: bool = False) -> Iterator[Echo]:
    """The values that differ, by their path in a JSON body, else by their order."""
    by_path = {value.path: value for value in caller}
    for position, value in enumerate(recorded):
        other = by_path.get(value.path) if value.path is not None else None
        if other is None and value.path is None and position < len(caller):
            other = caller[position]
        if other is not None and value.text and value.kind != "literal" and value.token != other.token:
            yield Echo(name, value, other, is_rpc)


def _name(selector: Selector) -> str:
    if selector.kind == "json":
        return JsonPath.parse(selector.name).name
    return "" if selector.kind == "path" else selector.name


def _bound_headers(headers: Headers, echoes: list[Echo]) -> Headers:
    """HEADERS with the caller's values, save those that would end the field (RFC 9110 section 5.5)."""
    fit = [echo for echo in echoes if not _NOT_FOR_HEADERS.search(echo.caller.text)]
    return tuple((name, _bound_header(name, value, fit)) for name, value in headers)


def _bound_header(name: str, value: str, echoes: list[Echo]) -> str:
    for echo in echoes:
        if _same_header(name.lower(), echo.name) and value.strip() == _wire(echo.recorded.text):
            return value.replace(value.strip(), _wire(echo.caller.text))
    pattern, spellings = _search(echoes, _wire)
    return value if pattern is None else pattern.sub(lambda found: spellings[found[0]], value)


def _wire(text: str) -> str:
    """TEXT as header text: its UTF-8 octets as Latin-1; text that came from a header stays as it is."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


def _same_header(name: str, field: str) -> bool:
    return _plain(name) == _plain(field) or (name in REQUEST_ID_HEADERS and field in REQUEST_ID_HEADERS)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _body_edits(body: bytes, content_type: str, echoes: list[Echo]) -> list[Edit]:
    """What to replace in BODY, in its order and without overlap; whole tokens before text inside them."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return []
    kind = media_type(content_type)[0]
    documents = _documents(text, kind)
    markup = escape if re.search(r"xml|html", kind) else str
    spans: list[tuple[int, int, str]] = []
    for leaf, echo in _token_echoes(documents, echoes):
        _insert(spans, leaf.start, leaf.end, _rendered(leaf, echo))
    inside = [(found[0].start, found[-1].end) for found in documents if found]
    for escaped, plain in ((True, (_json_inner, _json_ascii, _json_slashed)), (False, (markup,))):
        pattern, spellings = _search(echoes, *plain)
        for found in pattern.finditer(text) if pattern else ():
            if any(start <= found.start() < end for start, end in inside) is escaped:
                _insert(spans, found.start(), found.end(), spellings[found[0]])
    if text.isascii():
        return [(start, end, new.encode()) for start, end, new in spans]
    return [(len(text[:start].encode()), len(text[:end].encode()), new.encode()) for start, end, new in spans]


def _insert(spans: list[tuple[int, int, str]], start: int, end: int, new: str) -> None:
    """Add a span in its place, unless it overlaps one that is there."""
    at = bisect_left(spans, (start, end, ""))
    free_before = at == 0 or spans[at - 1][1] <= start
    free_after = at == len(spans) or end <= spans[at][0]
    if free_before and free_after:
        spans.insert(at, (start, end, new))


def _documents(text: str, kind: str) -> list[list[Leaf]]:
    """The leaves of each JSON document in TEXT: the body itself, its lines, or the data of its events."""
    if kind == "text/event-stream":
        spans = [found.span(1) for found in re.finditer(r"^data: ?(.*?)\r?$", text, re.MULTILINE)]
    elif re.search(r"ndjson|jsonl|json-seq|json-lines", kind):
        spans = [found.span() for found in re.finditer(r"[^\r\n\x1e]+", text)]
    else:
        spans = [(0, len(text))] if text.lstrip()[:1] in ("{", "[", '"') else []
    return [found for start, end in spans if (found := leaves(text, start, end))]


def _token_echoes(documents: list[list[Leaf]], echoes: list[Echo]) -> Iterator[tuple[Leaf, Echo]]:
    """The tokens that are echoes as a whole."""
    for echo in echoes:
        for document in documents:
            equal = [leaf for leaf in document if _equals(leaf, echo.recorded)]
            if not is_distinctive(echo.recorded.text):
                equal = _at_its_place(equal, echo)
            for leaf in equal:
                yield leaf, echo


def _at_its_place(found: list[Leaf], echo: Echo) -> list[Leaf]:
    """Of leaves that equal an ambiguous value those at the same path, else those of the same name."""
    if echo.is_rpc:
        return [leaf for leaf in found if _is_rpc_place(leaf.path)]
    same_path = [leaf for leaf in found if leaf.path == echo.recorded.path]
    return same_path or [leaf for leaf in found if echo.name and _plain(_leaf_name(leaf.path)) == _plain(echo.name)]


def _leaf_name(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _equals(leaf: Leaf, value: Value) -> bool:
    if leaf.kind == "literal":
        return False
    if leaf.kind == value.kind == "number":
        return number(leaf.token) == number(value.token)
    return leaf.text == value.text


def _rendered(leaf: Leaf, echo: Echo) -> str:
    """The caller's token; where the answer spelled the value as another type, the text in that type."""
    if leaf.kind == echo.recorded.kind:
        return echo.caller.token
    if leaf.kind == "number" and _JSON_NUMBER.fullmatch(echo.caller.text):
        return echo.caller.text
    return json.dumps(echo.caller.text, ensure_ascii=False)


def _json_inner(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _json_ascii(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_slashed(text: str) -> str:
    return _json_inner(text).replace("/", "\\/")


def _search(echoes: list[Echo], *plain: Callable[[str], str]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    """A pattern for every spelling of the distinctive values, and what each is replaced by.

    PLAIN are the spellings of the text at hand; percent escapes and markup escapes may stand in any text.
    Letters and digits next to a spelling make it part of another value.
    """
    spellings: dict[str, str] = {}
    spells: tuple[Callable[[str], str], ...] = (*plain, _percent, _percent_lower, quote_plus, escape)
    for echo in echoes:
        old, new = echo.recorded.text, echo.caller.text
        if is_distinctive(old):
            for spell in spells:
                spellings.setdefault(spell(old), spell(new))
    if not spellings:
        return None, spellings
    longest_first = sorted(spellings, key=len, reverse=True)
    alternatives = "|".join(map(re.escape, longest_first))
    return re.compile(f"{_EDGE}(?:{alternatives})(?![A-Za-z0-9])"), spellings


def _percent(text: str) -> str:
    return quote(text, safe="", errors="surrogateescape")


def _percent_lower(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), _percent(text))


def propose(interaction: Interaction) -> tuple[Binding, ...]:
    """Request fields whose distinctive value the response echoes, each with the places; never a credential.

    What is bound without a rule of the user's (request ids, JSON-RPC ids) is not proposed.
    """
    masked = {redaction.placeholder for redaction in interaction.redactions}
    found: dict[str, Binding] = {}
    for field, text in _candidates(interaction.request):
        if not is_distinctive(text) or re.search(r"\s", text) or next(iter(shapes(text)), None):
            continue
        if any(placeholder and placeholder in text for placeholder in masked):
            continue
        places = tuple(_places(interaction.response, text))[:_MOST_PLACES]
        if places:
            found.setdefault(field, Binding(field=field, echoed=places))
    return tuple(found.values())


def _candidates(request: Request) -> Iterator[tuple[str, str]]:
    for name, value in request.headers:
        lowered = name.lower()
        if header_rule(lowered) in _PROPOSED_HEADERS and lowered not in _CONSTANT_HEADERS:
            yield f"header:{lowered}", value.strip()
    for name, asked in fields_of(request.target.partition("?")[2]):
        if asked and not names_credential(name, "query"):
            yield f"query:{name}", asked
    for name, value in form_fields(request):
        if not names_credential(name, "form"):
            yield f"form:{name}", value
    bound_already = {value.path for value in _rpc_ids(request)}
    for leaf in json_leaves(request):
        if (
            leaf.kind == "string"
            and leaf.path not in bound_already
            and not names_credential(_leaf_name(leaf.path), "json")
        ):
            yield f"json:{spelled(leaf.path)}", leaf.text


def _places(response: Response, text: str) -> Iterator[str]:
    """The places in RESPONSE that hold TEXT."""
    value = text_value(text)
    echoes = [Echo("", value, value)]
    pattern, _ = _search(echoes, _wire)
    for name, content in response.headers:
        if pattern is not None and pattern.search(content):
            yield f"header:{name.lower()}"
    if not isinstance(response.body, bytes):
        return
    body = response.body.decode("utf-8", "replace")
    documents = _documents(body, media_type(header(response.headers, "content-type") or "")[0])
    for leaf in (leaf for document in documents for leaf in document):
        if leaf.text == text or (pattern is not None and pattern.search(leaf.text)):
            yield f"json:{spelled(leaf.path)}"
    if not documents and pattern is not None and pattern.search(body):
        yield "body"
