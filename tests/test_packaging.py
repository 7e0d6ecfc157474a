"""What is built is what is here: every package, every data file, one version, the same dependencies."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
ROOMS: dict[str, Path] = {dotted: ROOT / folder for dotted, folder in SETUPTOOLS["package-dir"].items()}
NOT_SHIPPED = {"__pycache__"}
HOST = re.compile(r"//|--(?:extra-)?index-url|--find-links|file:", re.IGNORECASE)
"""An address of an index, however it is written; a hash-locked requirement needs none."""


def folder_of(package: str) -> Path:
    """The folder that PACKAGE is built from."""
    room = max((room for room in ROOMS if f"{package}.".startswith(f"{room}.")), key=len)
    return ROOMS[room].joinpath(*package.removeprefix(room).strip(".").split("."))


def packages_found() -> set[str]:
    """The dotted names of all folders that hold an __init__.py."""
    return {
        ".".join((room, *init.parent.relative_to(folder).parts))
        for room, folder in ROOMS.items()
        for init in folder.rglob("__init__.py")
    }


def normalised(name: str) -> str:
    """NAME of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: list[Any]) -> set[str]:
    """The distributions that REQUIREMENTS ask for, without versions and markers."""
    return {
        normalised(re.split(r"[\s<>=!~;\[]", text, maxsplit=1)[0]) for text in requirements if isinstance(text, str)
    }


def locked(name: str) -> dict[str, int]:
    """The distributions of requirements/NAME.txt and how many hashes each has."""
    entries = re.split(r"^(?=\w)", (ROOT / "requirements" / f"{name}.txt").read_text("utf-8"), flags=re.MULTILINE)
    return {normalised(entry.split("==")[0]): entry.count("--hash=sha256:") for entry in entries if "==" in entry}


def test_every_package_is_shipped() -> None:
    """A folder with an __init__.py is listed in tool.setuptools.packages, and nothing else is."""
    assert packages_found() == set(SETUPTOOLS["packages"])


def test_every_folder_of_modules_is_a_package() -> None:
    """A module in a folder without an __init__.py would be left out of the wheel without a word."""
    orphans = {
        str(module.relative_to(ROOT))
        for folder in ROOMS.values()
        for module in folder.rglob("*.py")
        if not (module.parent / "__init__.py").exists()
    }
    assert orphans == set()


@pytest.mark.parametrize("package", SETUPTOOLS["packages"])
def test_every_data_file_is_shipped(package: str) -> None:
    """A file that is no module is matched by a pattern of tool.setuptools.package-data."""
    folder, patterns = folder_of(package), SETUPTOOLS["package-data"].get(package, [])
    below = {folder_of(other) for other in SETUPTOOLS["packages"] if other.startswith(f"{package}.")}
    data = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix != ".py"
        and not NOT_SHIPPED.intersection(path.parts)
        and not any(other in path.parents for other in below)
    }
    assert {name for name in data if not any(fnmatch(name, pattern) for pattern in patterns)} == set()


def imported(path: Path) -> set[str]:
    """The top-level names that the module at PATH imports, relative imports apart."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_every_import_is_a_declared_dependency() -> None:
    """What we import we ask for, rather than rely on another's dependency to bring it; and nothing is asked in vain."""
    modules = set().union(*(imported(path) for folder in ROOMS.values() for path in folder.rglob("*.py")))
    foreign = modules - set(sys.stdlib_module_names) - {"replayproxy"}
    distributions = packages_distributions()
    used = {normalised(distributions[name][0]) for name in foreign}
    assert used == names(PROJECT["project"]["dependencies"])


def rooms_found() -> set[str]:
    """The top-level modules and packages of the library, addons and command line, as import contracts name them."""
    entries = (ROOT / "replayproxy").iterdir()
    inside = {path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").exists()}
    return {f"replayproxy.{name}" for name in inside - {"__init__", "schema"}} | {"addons", "cli"}


def test_every_room_has_a_place_in_the_import_contracts() -> None:
    """The order of rooms names each; each door is closed to all but those who keep it."""
    contracts = {each["id"]: each for each in PROJECT["tool"]["importlinter"]["contracts"]}
    ordered = {name.strip(" ()") for layer in contracts["rooms"]["layers"] for name in re.split(r"[|:]", layer)}
    assert rooms_found() <= ordered
    keepers = {"mitmproxy-door": {"replayproxy.mitm", "addons"}, "yaml-door": {"replayproxy.format"}}
    for door, kept_by in keepers.items():
        assert set(contracts[door]["source_modules"]) == rooms_found() - kept_by


def test_the_package_is_marked_as_typed() -> None:
    """PEP 561: without py.typed, users' checkers ignore our annotations."""
    assert (ROOT / "replayproxy" / "py.typed").is_file()


@pytest.mark.parametrize("name", ["runtime", "dev"])
def test_requirements_are_locked_and_name_no_host(name: str) -> None:
    """Each locked distribution has a hash, and the file does not say which index it came from."""
    found = locked(name)
    assert found
    assert {each for each, hashes in found.items() if not hashes} == set()
    assert HOST.search((ROOT / "requirements" / f"{name}.txt").read_text("utf-8")) is None


def test_requirements_hold_every_dependency() -> None:
    """What pyproject.toml asks for is locked; dev is runtime and more, at the same versions."""
    runtime, dev = locked("runtime"), locked("dev")
    groups = PROJECT["dependency-groups"]
    assert names(PROJECT["project"]["dependencies"]) <= set(runtime)
    assert set().union(*map(names, groups.values())) <= set(dev)
    pins = [
        set(re.findall(r"^\S+==\S+", (ROOT / "requirements" / f"{each}.txt").read_text("utf-8"), re.MULTILINE))
        for each in ("runtime", "dev")
    ]
    assert pins[0] <= pins[1]


def test_no_committed_file_names_an_index() -> None:
    """uv.lock holds the addresses of the index it was made from, so it is not kept."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "uv.lock" not in listed.split("\n")
    ignored = subprocess.run(["git", "check-ignore", "-q", "uv.lock"], cwd=ROOT, check=False)
    assert ignored.returncode == 0


def test_the_changelog_knows_the_version() -> None:
    """The version of pyproject.toml has a section, or all is still unreleased."""
    headings = re.findall(r"^## \[?([^\]\s]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert PROJECT["project"]["version"] in headings
