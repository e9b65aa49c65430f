"""What the site needs beyond Sphinx: links where a page is named, and the commands' own help."""

import re

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from fairpool.cli import app as fairpool_command

PAGE = re.compile(r"docs/([\w/-]+)\.md")
"""How texts and docstrings name a page of this folder."""

LITERAL = re.compile(r"(``.+?``|`.+?`)", re.S)

logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("doctree-resolved", link_pages)
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}


def escape_bars(app, what, name, thing, options, lines: list[str]) -> None:
    """|a(x)| is a length in a docstring, and would be a substitution in reStructuredText."""
    for number, line in enumerate(lines):
        parts = LITERAL.split(line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[number] = "".join(parts)


def link_pages(app: Sphinx, document: nodes.document, name: str) -> None:
    """Make `docs/trust.md`, which reads well in an editor, a link with the page's title."""
    for literal in list(document.findall(nodes.literal)):
        found = PAGE.fullmatch(literal.astext())
        if found is None or isinstance(literal.parent, nodes.reference):
            continue
        target = found[1]
        if target not in app.env.all_docs:
            logger.warning("there is no page %s", literal.astext(), location=literal)
            continue
        address = app.builder.get_relative_uri(name, target)
        link = nodes.reference("", "", internal=True, refuri=address)
        link += nodes.emphasis("", app.env.titles[target].astext())
        literal.replace_self(link)


class Commands(SphinxDirective):
    """Every command, from the texts that `--help` shows."""

    def run(self) -> list[nodes.Node]:
        """Write the texts as Markdown, and have it read as the page is."""
        text = "\n".join(described(typer.main.get_command(fairpool_command), "fairpool"))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def described(command, path: str) -> list[str]:
    """A command and those below it, as Markdown."""
    lines = [f"## `{path}`"] if " " in path else []
    lines += ["", command.help or "", ""]
    for parameter in command.params:
        if parameter.param_type_name == "option":
            names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        else:
            names = (parameter.metavar or parameter.name).upper()
        if not parameter.hidden:
            lines += [f"`{names}`", f": {parameter.help or ''}", ""]
    for name, below in getattr(command, "commands", {}).items():
        lines += described(below, f"{path} {name}")
    return lines
