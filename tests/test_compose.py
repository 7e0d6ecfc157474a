"""The compose file says what it claims: replay has no way out, record has one, nothing is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]


def test_replay_is_on_internal_networks_only() -> None:
    """Every network that replay joins is internal; the one that reaches upstreams is record's."""
    assert {name: COMPOSE["networks"][name] for name in SERVICES["replay"]["networks"]} == {
        "episode": {"internal": True}
    }
    assert "upstream" in SERVICES["record"]["networks"]


@pytest.mark.parametrize("name", ["record", "replay"])
def test_a_service_runs_its_own_command_and_publishes_nothing(name: str) -> None:
    """Each runs the command of its name under a profile of that name, without ports of the host or privileges."""
    service = SERVICES[name]
    assert service["command"][:2] == ["replayproxy", name]
    assert service["profiles"] == [name]
    assert "ports" not in service
    assert (service["cap_drop"], service["read_only"]) == (["ALL"], True)
    assert service["image"].startswith("${REPLAYPROXY_IMAGE:?")


def test_replay_names_its_purpose_and_cannot_change_cassettes() -> None:
    """A compose file always says what the recordings are used for, and replay mounts them read-only."""
    assert any(word.startswith("--purpose=") for word in SERVICES["replay"]["command"])
    mounts = {mount["target"]: mount for mount in SERVICES["replay"]["volumes"]}
    assert mounts["/cassettes"]["read_only"] is True


@pytest.mark.parametrize("name", ["record", "replay"])
def test_the_control_api_is_not_on_the_network_of_the_episode(name: str) -> None:
    """The control API is a socket in the state folder: an application that joins the network cannot reach it."""
    assert "--control=unix:/state/control.sock" in SERVICES[name]["command"]
