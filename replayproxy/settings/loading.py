"""Reads configurations and the files that they name; every fault is a SettingsError with file, line and path."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from replayproxy.core.errors import RightsError, SettingsError
from replayproxy.core.provider import Provider, Providers
from replayproxy.core.rights import PRESETS, REGISTRY, TAG, Entry, Registry, Tag
from replayproxy.core.shape import Path as Place
from replayproxy.core.shape import Shape, ShapeError, nearest
from replayproxy.format.document import Document, MisfitError, parse
from replayproxy.settings.model import Episode, Settings
from replayproxy.settings.table import TABLE, FileText, ProviderText

CONFIG_NAME = "replayproxy.yaml"
MANUAL = "every setting is described in docs/configuration.md, every part of a rights tag in docs/rights.md"


def load(path: Path | None = None, folder: Path = Path()) -> Settings:
    """The configuration in PATH; without one that of `replayproxy.yaml` in FOLDER, where there is one.

    Paths in the file count from the file's folder. Raises SettingsError; where PATH is given and missing, too.
    """
    if path is None:
        path = folder / CONFIG_NAME
        if not path.exists():
            return Settings()
    document = _document(path, hint="replayproxy init writes one to start from")
    return _settings(path, document, _shaped(TABLE, document))


def rights_from(value: str, folder: Path = Path()) -> Tag:
    """The tag that VALUE names: a preset, or a YAML file (relative to FOLDER) with a tag, bare or under `rights:`.

    Raises SettingsError for a file that is missing or cannot be read, RightsError (also exit code 2) for what is no
    tag.
    """
    if value in PRESETS:
        return PRESETS[value]
    path = folder / value
    if not path.exists():
        known = nearest(value, PRESETS)
        hint = known if known.startswith("did") else f"a preset ({', '.join(PRESETS)}), or the path of a rights file"
        raise SettingsError(f"{value}: neither a preset nor a file that is there", hint=hint)
    document = _document(path, hint="name a rights file that can be read", kind=RightsError)
    under: Place = ()
    if isinstance(document.value, dict) and list(document.value) == ["rights"]:
        under = ("rights",)
    return _shaped(TAG, document, under)


def _document(path: Path, *, hint: str, kind: type[SettingsError | RightsError] = SettingsError) -> Document:
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingsError(f"{path}: cannot be read: {reason}", hint=hint) from error
    try:
        return parse(data, str(path), kind=kind)
    except kind as error:
        own = error.hint if error.hint and "record" not in error.hint else hint or "mend the YAML at that line"
        raise kind(error.what, hint=own) from error


def _shaped[T](shape: Shape[T], document: Document, under: Place = ()) -> T:
    value = document.value
    for step in under:
        value = value[step]
    try:
        return shape.read(value, under)
    except ShapeError as error:
        raise _at(document, error.path, error.problem, error.hint) from error


def _at(document: Document, path: Place, problem: str, hint: str) -> SettingsError | RightsError:
    error = document.error(MisfitError(problem, path, hint=hint or MANUAL))
    assert isinstance(error, SettingsError | RightsError)
    return error


def _settings(path: Path, document: Document, text: FileText) -> Settings:
    folder = path.parent
    _require_distinct_hosts(document, text)
    providers = tuple(_provider(document, folder, name, provider) for name, provider in text.providers)
    registry_files = tuple(folder / name for name in text.registry)
    return Settings(
        file=path,
        cassettes=tuple(folder / name for name in text.cassettes),
        providers=Providers(providers),
        policy=_policy(document, folder, text.policy),
        registry_files=registry_files,
        registry=_registry(document, registry_files),
        limits=text.limits,
        episodes=tuple(_named(name, episode) for name, episode in text.episodes),
        times=tuple((name, provider.time) for name, provider in text.providers if provider.time),
        webhooks=tuple((name, provider.webhooks) for name, provider in text.providers if provider.webhooks),
    )


def _named(name: str, episode: Episode) -> Episode:
    return Episode(name=name, seed=episode.seed, clock=episode.clock, listen=episode.listen, source=episode.source)


def _require_distinct_hosts(document: Document, text: FileText) -> None:
    seen: dict[str, str] = {}
    for name, provider in text.providers:
        for at, host in enumerate(provider.hosts):
            if seen.setdefault(host, name) != name:
                where = ("providers", name, "hosts", at)
                problem = f"{host} is already a host of {seen[host]}, which comes first and so decides"
                raise _at(document, where, problem, "remove it from one of the two")


def _provider(document: Document, folder: Path, name: str, text: ProviderText) -> Provider:
    rights = text.rights
    if isinstance(rights, str):
        try:
            rights = rights_from(rights, folder)
        except (SettingsError, RightsError) as error:
            raise _at(document, ("providers", name, "rights"), error.what, error.hint) from error
    return Provider(name=name, hosts=text.hosts, rights=rights, match=text.match, redact=text.redact)


def _policy(document: Document, folder: Path, name: str) -> Path | None:
    if not name:
        return None
    path = folder / name
    if not path.is_file():
        raise _at(document, ("policy",), f"{name} is not a file that is there", "paths count from this file's folder")
    return path


def _registry(document: Document, files: Iterable[Path]) -> Registry:
    entries: list[Entry] = []
    for at, path in enumerate(files):
        if not path.is_file():
            hint = "paths count from this file's folder"
            raise _at(document, ("registry", at), f"{path.name} is not a file that is there", hint)
        entries += _shaped(REGISTRY, _document(path, hint="")).entries
    return Registry.from_entries(entries)
