"""What all tests share: how much hypothesis tries, and how the edges are reached."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, settings

# The suite is run often and beside other work: few examples, no deadline, and the same ones in CI each time.
settings.register_profile(
    "house", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("ci", parent=settings.get_profile("house"), derandomize=True)
settings.register_profile("deep", parent=settings.get_profile("house"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "house"))

ROOT = Path(__file__).parent.parent


@pytest.fixture
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture
def command_line() -> click.Command:
    """The command line, reached as an installation reaches it: by its entry point."""
    (entry,) = entry_points(group="console_scripts", name="replayproxy")
    loaded = entry.load()
    assert isinstance(loaded, click.Command)
    return loaded


@pytest.fixture
def addon_folder() -> Path:
    """Where the addon scripts are installed; mitmproxy loads them by path."""
    return Path(str(files("replayproxy.addons")))
