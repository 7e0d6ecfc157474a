"""A JSON body as parts of the key: one for each leaf, named by its path, whatever the order of members."""

from __future__ import annotations

from operator import itemgetter

from replayproxy.core.canonical import graphql, json_value
from replayproxy.core.canonical.draft import LEFT_OUT, Draft, quoted
from replayproxy.core.canonical.fields import ASSERTIONS
from replayproxy.core.canonical.json_value import Members, Number
from replayproxy.core.canonical.jsonpath import Path, step_text
from replayproxy.core.canonical.jwt import steady_jwt
from replayproxy.core.credentials import names_credential

_CONSTANTS: dict[object, str] = {True: "true", False: "false", None: "null"}


def add_json(draft: Draft, data: bytes, prefix: str) -> bool:
    """The leaves of DATA take part as `PREFIX.$.path`; False, and nothing done, where it is no JSON."""
    try:
        document = json_value.parse(data)
        if _depth(document) > json_value.DEEPEST:
            return False
    except ValueError:
        return False
    _Walk(draft, document, prefix).add(document, f"{prefix}.$", (), "")
    return True


def _depth(document: object) -> int:
    level, depth = [document], 0
    while level:
        depth += 1
        level = [
            child
            for value in level
            if isinstance(value, Members | list)
            for child in ((pair[1] for pair in value) if isinstance(value, Members) else value)
        ]
    return depth


class _Walk:
    """One walk through a document; `fixed` holds the places whose value is given rather than read."""

    __slots__ = ("cut", "draft", "fixed", "plan", "watched")

    def __init__(self, draft: Draft, document: object, prefix: str) -> None:
        self.draft = draft
        self.plan = draft.plan
        self.cut = len(prefix) + 1
        self.watched = bool(self.plan.json_left)
        self.fixed: dict[Path, tuple[str, str]] = {}
        envelopes = enumerate(document) if isinstance(document, list) else [(None, document)]
        for position, envelope in envelopes:
            if isinstance(envelope, Members):
                self.fixed |= _fixed(envelope, () if position is None else (position,))

    def add(self, value: object, name: str, path: Path, field: str) -> None:
        """VALUE takes part as NAME; FIELD is the name of the member it is or is an item of."""
        if self.watched and (rule := self.plan.json_left_out(path)):
            self.draft.drop(rule, self.place(name))
        elif path in self.fixed and not self.plan.keeps(self.fixed[path][0], self.place(name), path):
            rule, constant = self.fixed[path]
            self.draft.drop(rule, self.place(name))
            self.draft.part(name, self.draft.without_shapes(constant, self.place(name), path))
        elif isinstance(value, Members):
            self.add_members(value, name, path)
        elif isinstance(value, list):
            self.add_items(value, name, path, field)
        else:
            self.draft.part(name, self.leaf(value, name, path, field))

    def add_members(self, members: Members, name: str, path: Path) -> None:
        """The members take part by name; of repeats every one, in their order, as `.name#2` and so on."""
        before, last, repeats = len(self.draft.parts), None, 1
        for key, child in sorted(members, key=itemgetter(0)):
            repeats = repeats + 1 if key == last else 1
            last = key
            suffix = step_text(key) if repeats == 1 else f"{step_text(key)}#{repeats}"
            self.add(child, name + suffix, (*path, key), key)
        if len(self.draft.parts) == before:
            self.draft.part(name, "{}")

    def add_items(self, items: list[object], name: str, path: Path, field: str) -> None:
        """The items take part by position."""
        before = len(self.draft.parts)
        for position, child in enumerate(items):
            self.add(child, f"{name}[{position}]", (*path, position), field)
        if len(self.draft.parts) == before:
            self.draft.part(name, "[]")

    def leaf(self, value: object, name: str, path: Path, field: str) -> str:
        """What of a leaf takes part: a constant for a credential, else its JSON text."""
        if not isinstance(value, str):
            return _CONSTANTS[value]
        if field in ASSERTIONS and not self.plan.keeps("jwt-assertion", self.place(name), path):
            steady = steady_jwt(value)
            if steady is not None:
                self.draft.drop("jwt-assertion", self.place(name))
                return steady
        if value and names_credential(field, "json"):
            return self.draft.concealed(self.place(name), value, path)
        if isinstance(value, Number):
            return str(value)
        return quoted(self.draft.without_shapes(value, self.place(name), path))

    def place(self, name: str) -> str:
        """The selector of the part NAME."""
        return f"json:{name[self.cut :]}"


def _fixed(envelope: Members, path: Path) -> dict[Path, tuple[str, str]]:
    names = {name for name, _ in envelope}
    fixed: dict[Path, tuple[str, str]] = {}
    if "method" in names and "id" in names and envelope.get("jsonrpc") == "2.0":
        fixed[(*path, "id")] = ("jsonrpc-id", LEFT_OUT)
    query = envelope.get("query")
    if type(query) is str and graphql.is_envelope(names):
        document = graphql.without_layout(query)
        if document is not None and document != query:
            fixed[(*path, "query")] = ("graphql-layout", quoted(document))
    return fixed
