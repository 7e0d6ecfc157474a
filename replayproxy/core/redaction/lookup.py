"""Many texts looked for in one at once, in time that grows with that one and hardly with their number."""

from __future__ import annotations

from collections.abc import Iterator

HEAD = 6
"""The least length of a text that is looked for."""
MANY = 64
"""From how many texts on each place is looked at once, instead of the whole for each."""


class Lookup[Meaning]:
    """Texts of at least HEAD characters, each with its meaning; of two meanings of a text the first stays."""

    def __init__(self) -> None:
        self._meanings: dict[str, Meaning] = {}
        self._heads: dict[str, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._meanings)

    def add(self, wanted: str, meaning: Meaning) -> None:
        """WANTED is looked for from now on."""
        if wanted not in self._meanings:
            self._meanings[wanted] = meaning
            self._heads.setdefault(wanted[:HEAD], []).append(wanted)

    def find(self, text: str) -> Iterator[tuple[int, str, Meaning]]:
        """Every place in TEXT where one of the texts begins, overlapping ones too: place, text, meaning."""
        if len(self._meanings) < MANY:
            yield from self._one_by_one(text)
        else:
            yield from self._place_by_place(text)

    def _one_by_one(self, text: str) -> Iterator[tuple[int, str, Meaning]]:
        for wanted, meaning in self._meanings.items():
            at = text.find(wanted)
            while at >= 0:
                yield at, wanted, meaning
                at = text.find(wanted, at + 1)

    def _place_by_place(self, text: str) -> Iterator[tuple[int, str, Meaning]]:
        heads = self._heads
        for at in [at for at in range(len(text) - HEAD + 1) if text[at : at + HEAD] in heads]:
            for wanted in heads[text[at : at + HEAD]]:
                if text.startswith(wanted, at):
                    yield at, wanted, self._meanings[wanted]
