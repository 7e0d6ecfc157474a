"""Writes docs/cli.md from the commands' own help: `uv run python docs/generate_cli.py [--check]`.

With --check nothing is written, and the exit code is 1 if the page is not what the commands say.
"""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path

import click

PAGE = Path(__file__).parent / "cli.md"
WIDTH = 100
HEAD = """# Commands

Written by `docs/generate_cli.py` from `replayproxy COMMAND --help`. stdout is data, stderr is talk. Exit codes: 0 fine,
1 a negative result, 2 usage or bad input, 3 the product could not do its job, 4 misses or refusals with CMD, 130
interrupted; CMD's own code comes first. `audit` has codes of its own, told in its help.
"""


def page() -> str:
    """The whole page."""
    (entry,) = entry_points(group="console_scripts", name="replayproxy")
    group = entry.load().__globals__["cli"]
    context = click.Context(group, info_name="replayproxy", terminal_width=WIDTH, max_content_width=WIDTH)
    parts = [HEAD]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = click.Context(command, context, name, terminal_width=WIDTH, max_content_width=WIDTH)
        text = "\n".join(line.rstrip() for line in command.get_help(inner).splitlines())
        parts.append(f"## {name}\n\n```text\n{text.replace(str(Path.home()), '~')}\n```\n")
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Write the page, or compare it."""
    made = page()
    if arguments == ["--check"]:
        same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == made
        print("docs/cli.md is up to date" if same else "docs/cli.md is stale: run docs/generate_cli.py")
        return 0 if same else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
