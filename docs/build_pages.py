"""What mkdocs adds to the pages of this folder when it builds the site (``make site``).

Pages of the repository's top folder are taken over; the references are made from the program itself: the command line
from its options, the GTP commands from their table, Python from docstrings (by mkdocstrings). Nothing of it is
committed. Links are written so that they work in the repository, and are changed here for the site.
"""

from __future__ import annotations

import inspect
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

import katachi
from katachi.cli import COMMANDS
from katachi.cli._commands import load_command
from katachi.gtp.engine import commands

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT: Final = Path(__file__).parent.parent
TOP_PAGES: Final = {  # of the repository, and where they are on the site
    "README.md": "README.md",
    "CONCEPTS.md": "glossary.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
CONTRACTS: Final = "katachi.core.contracts"
OTHERS: Final = "Learning"
TITLES: Final = {  # by package
    "go": "The game",
    "sgf": "Game records",
    "players": "Players",
    "core": "Evaluators, and what is exchanged with them",
    "arena": "Matches",
    OTHERS: OTHERS,
}
_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
_FENCE: Final = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)
_ITEM: Final = re.compile(r"^(?=(?:- |\d+\. ))", re.MULTILINE)


# mkdocs calls these


def on_files(files: Files, config: Any) -> Files:
    """Add what is made here, and the examples, which pages link to."""
    from mkdocs.structure.files import File

    for path in sorted((ROOT / "examples").iterdir()):
        if path.is_file():
            files.append(File.generated(config, f"examples/{path.name}", content=path.read_bytes()))
    for uri, text in make_pages():
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001
    """Fit a page that was written for the repository to the site."""
    source = next((top for top, uri in TOP_PAGES.items() if uri == page.file.src_uri and top != "README.md"), None)
    where = posixpath.dirname(source or f"docs/{page.file.src_uri}")
    return fit(markdown, where, posixpath.dirname(page.file.src_uri), files)


# Pages that are made


def make_pages() -> Iterator[tuple[str, str]]:
    """The place of every page that is made, and its Markdown."""
    for top, uri in TOP_PAGES.items():
        if top != uri:
            yield uri, (ROOT / top).read_text(encoding="utf-8")
    yield "reference/cli.md", "\n\n".join(describe_commands())
    yield "reference/gtp.md", "\n\n".join(describe_gtp())
    yield "reference/python.md", "\n\n".join(list_names())
    yield "reference/contracts.md", "\n\n".join(list_contracts())


def describe_commands() -> Iterator[str]:
    """A section per command, and one per subcommand."""
    yield "# Command line"
    yield "Made from `--help` of every command. `katachi --install-completion` sets up completion for your shell."
    for name, lazy in COMMANDS.items():
        command = load_command(name, lazy.target)
        yield from describe_command(command, f"katachi {name}", 2)
        for subname, sub in subcommands(command):
            yield from describe_command(sub, f"katachi {name} {subname}", 3)


def subcommands(command: Any) -> Iterator[tuple[str, Any]]:
    """The commands of a group; those of the systems are found by the registry."""
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield name, command.get_command(context, name)


def describe_command(command: Any, title: str, level: int) -> Iterator[str]:
    """Usage, text, examples, arguments and options."""
    context = typer.Context(command, info_name=title)
    text, _, examples = (command.help or "").replace("\b\n", "").partition("Examples:")
    yield f"{'#' * level} {title}"
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    yield text.strip()
    if examples:
        yield "```sh\n" + re.sub("^ +", "", examples.strip(), flags=re.MULTILINE) + "\n```"
    rows = [row for parameter in command.params if (row := describe_parameter(parameter, context))]
    if rows:
        yield "| option | meaning |\n|---|---|\n" + "\n".join(
            f"| <code>{name}</code> | {text} |" for name, text in rows
        )


def describe_parameter(parameter: Any, context: typer.Context) -> tuple[str, str] | None:
    """A parameter as its help has it, on one line."""
    record = parameter.get_help_record(context)
    if record is None or "--help" in parameter.opts:
        return None
    name, text = (" ".join(part.split()).replace("|", "&#124;") for part in record)
    name, text = (part.replace("<", "&lt;") for part in (name, text))
    return name, re.sub(r"\[(default: [^\]]*|required|[^\]]*&lt;=?x[^\]]*|x>=?[^\]]*)\]$", r"*(\1)*", text)


def describe_gtp() -> Iterator[str]:
    """Every GTP command with its arguments, in the groups of the page about engines."""
    groups = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8").split("## The commands")[1]
    yield "# GTP commands"
    yield (
        f"The {len(commands.names)} commands of `katachi gtp`, made from the table that answers them. One without "
        "a note does what its protocol says; [Engines](../engines.md#the-commands) has the details."
    )
    for group, names in re.findall(r"^\| ([a-z][^|]*) \| (`[^|]*) \|$", groups, re.MULTILINE):
        rows = [f"| `{commands.usage(name)}` | {first_line(name)} |" for name in re.findall(r"`([^`]+)`", names)]
        yield f"## {group[0].upper()}{group[1:]}"
        yield "| command | note |\n|---|---|\n" + "\n".join(rows)


def first_line(name: str) -> str:
    """What the function behind a command says of itself."""
    handler = commands._handlers[name]
    text = getattr(handler, "func", handler).__doc__ or ""  # some are partial
    return text.strip().split("\n")[0].replace("``", "`").replace("|", "\\|")


def list_names() -> Iterator[str]:
    """The public names of the package, by where they live."""
    yield "# Python"
    yield (
        "Everything here is imported from `katachi` itself: `from katachi import Game`. Names that are not on this "
        "page may change in any release. [Contracts](contracts.md) says what evaluators, searches and players must do."
    )
    by_title: dict[str, list[str]] = {title: [] for title in TITLES.values()}
    for name, home in katachi._HOME_OF.items():
        target = find_home(name, home)
        entry = f"- [`{name}`][{target}]" if home == CONTRACTS else f"::: {target}"
        by_title[TITLES.get(home.split(".")[1], OTHERS)].append(entry)
    for title, entries in by_title.items():
        if entries:
            yield f"## {title}"
            yield "\n".join(sorted(entry for entry in entries if entry.startswith("- ")))
            yield from (entry for entry in entries if entry.startswith(":"))


def find_home(name: str, home: str) -> str:
    """Where a name is defined: a package may hand on what one of its modules has."""
    found = getattr(katachi, name)
    return f"{found.__module__ if inspect.isclass(found) or inspect.isfunction(found) else home}.{name}"


def list_contracts() -> Iterator[str]:
    yield "# Contracts"
    options = "show_root_heading: false, show_root_toc_entry: false, heading_level: 2, show_if_no_docstring: true"
    yield f"::: {CONTRACTS}\n    options: {{{options}}}"


# Links, lists and consoles


def fit(markdown: str, where: str, here: str, files: Files) -> str:
    """Change a page that lies in the folder ``where`` of the repository for the folder ``here`` of the site."""
    parts = _FENCE.split(markdown)
    for i, part in enumerate(parts):
        if part.startswith("```"):
            parts[i] = part.replace("```python\n>>>", "```pycon\n>>>", 1)
        else:
            linked = _LINK.sub(lambda link: fit_link(link, where, here, files), part)
            parts[i] = "\n".join(spread_lists(linked.split("\n")))
    return "".join(parts)


def fit_link(link: re.Match[str], where: str, here: str, files: Files) -> str:
    """The link on the site; only its text, if it leads to a file that is not there, such as a source."""
    bang, text, target, anchor = link[1], link[2], link[3], link[4] or ""
    path = posixpath.normpath(posixpath.join(where, target))
    uri = TOP_PAGES.get(path) or path.removeprefix("docs/")
    if path == "docs":
        uri = "README.md"
    if uri not in files.src_uris:
        return text
    return f"{bang}[{text}]({os.path.relpath(uri, here or '.').replace(os.sep, '/')}{anchor})"


def spread_lists(lines: list[str]) -> Iterator[str]:
    """A blank line before every list: GitHub needs none, Python's Markdown does."""
    before = ""
    for line in lines:
        begins = _ITEM.match(line) and before.strip() and not before.startswith((" ", "- ")) and not _ITEM.match(before)
        if begins and not in_list(before):
            yield ""
        yield line
        before = line


def in_list(line: str) -> bool:
    return bool(re.match(r"(- |\d+\. |\s)", line))
