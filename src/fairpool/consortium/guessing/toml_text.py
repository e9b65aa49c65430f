"""The `collaboration.toml` of a proposal: what is certain as settings, all else as questions.

A line that would change numbers, or join columns of different names, is a setting only where
nothing else is likely. Otherwise it is commented out, below the question that it answers.
"""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fairpool.consortium.guessing.classes import ClassProposal
from fairpool.consortium.guessing.looks import SourceLook
from fairpool.consortium.guessing.proposal import ColumnProposal, Proposal
from fairpool.consortium.guessing.separators import WORDS
from fairpool.errors import few, printable
from fairpool.model_kinds.sparse_gp import INDUCING_POINTS
from fairpool.realisation.disclosure import FEWEST_ROWS, Exposure, most_weights
from fairpool.report.words import as_percent

WIDTH = 98
MOST_SECTIONS = 300
"""Of more columns, only those of which there is something to say have a section."""

MOST_NAMED = 30
"""So many columns or files are named in one comment."""

INPUT_KINDS = ("number", "category", "date")
"""Kinds of columns that a model learns from."""

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

BEGINNING = """\
# A collaboration, as far as it can be guessed from some rows of every table. Every guess stands
# beside what it rests on. Lines that begin with "# ?" are questions: a setting below one is
# commented out, and answers it with yes once the # in front of it is taken away. Then
# `fairpool check` looks at all rows, and `fairpool run` computes.
"""

MODEL = """\
# All other settings, with explanations, are in the example of `fairpool init my-project`.
[model]
kind = "sparse_gp"
"""

REWARDS = """\
[rewards]
rho = "stable"
"""


@dataclass
class Page:
    """Lines of the file, and the questions among them; it grows line by line."""

    lines: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def blank(self) -> None:
        """An empty line, but never two."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def comment(self, text: str) -> None:
        """Something to know."""
        wrapped = textwrap.wrap(printable(text), WIDTH - 2, break_on_hyphens=False)
        self.lines += [f"# {line}" for line in wrapped]

    def question(self, text: str, *settings: str) -> None:
        """Something to decide, and the settings that stand for yes."""
        self.questions.append(printable(text))
        wrapped = textwrap.wrap(printable(text), WIDTH - 4, break_on_hyphens=False)
        self.lines += [f"# ? {line}" for line in wrapped]
        self.lines += [f"# {setting}" for setting in settings]

    def setting(self, key: str, value: str, why: str = "") -> None:
        """A setting, and what it rests on, beside it or above."""
        line = f"{key} = {value}"
        if why and len(line) + len(why) + 4 <= WIDTH:
            self.lines.append(f"{line}  # {printable(why)}")
            return
        if why:
            self.comment(f"{key}: {why}")
        self.lines.append(line)


def text_of(value: str) -> str:
    r"""A text as TOML has it.

    >>> print(text_of('a "b"\t'))
    "a \"b\"\t"
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_of(name: str) -> str:
    """A key as TOML has it: bare, or in quotes.

    >>> print(key_of("rain_mm"), key_of("soil pH"))
    rain_mm "soil pH"
    """
    if BARE_KEY.fullmatch(name):
        return name
    return text_of(name)


def list_of(values: Sequence[str]) -> str:
    """Texts as TOML has a list of them."""
    return f"[{', '.join(text_of(value) for value in values)}]"


def write_page(proposal: Proposal, name: str) -> Page:
    """The whole file.

    Args:
        proposal: What the collaboration seems to be.
        name: What it is called.
    """
    page = Page(lines=BEGINNING.splitlines())
    page.blank()
    page.setting("name", text_of(name))
    if proposal.target.why:
        page.question(f"target: {proposal.target.why}")
    _write_what_is_predicted(page, proposal)
    common = _common_reading(proposal.sources)
    if common:
        page.blank()
        page.lines.append("[reading]")
        page.comment("All files are so.")
        for key, value in common.items():
            page.setting(key, value)
    _write_columns(page, proposal)
    page.blank()
    page.lines += MODEL.splitlines()
    _write_inducing_points(page, proposal)
    page.blank()
    page.lines += REWARDS.splitlines()
    for source in proposal.others:
        page.blank()
        page.lines.append(f"[{source.name}]")
        _write_source(page, source, proposal, common=common)
    for source in proposal.parties:
        page.blank()
        page.lines.append("[[parties]]")
        page.setting("name", text_of(source.name))
        _write_source(page, source, proposal, common=common)
    if proposal.unused:
        page.blank()
        page.comment(f"Not used, since they are no tables: {few(proposal.unused, MOST_NAMED)}.")
    return page


def _write_what_is_predicted(page: Page, proposal: Proposal) -> None:
    """The target, with its classes if it has some."""
    target = proposal.target
    classes = target.classes
    if classes is None:
        page.setting("target", text_of(target.name))
        return
    if classes.are_numbers:
        page.question(
            f"{target.name}: classes, since {classes.why}; or is it an amount, to be predicted as a"
            " number? (In place of the line that says target.)",
            f"target = {text_of(target.name)}",
        )
    else:
        page.comment(f"{target.name}: classes, since it is {classes.why}.")
    if not all(source.whole for source in proposal.sources):
        page.comment("Not all rows were looked at, so that there may be more classes than here.")
    _write_rare_classes(page, target.name, classes)
    said = [f"column = {text_of(target.name)}", 'kind = "classes"']
    said.append(f"levels = {list_of(classes.levels)}")
    if classes.other:
        said.append(f"other = {text_of(classes.other)}")
    page.setting("target", f"{{ {', '.join(said)} }}")


def _write_rare_classes(page: Page, target: str, classes: ClassProposal) -> None:
    """Ask about classes of which a party has some rows, but too few."""
    if not classes.rare:
        return
    text = (
        f"{target}: {few(classes.rare, MOST_NAMED)}, and a party needs {FEWEST_ROWS} rows of a"
        " class, or none, since sums over fewer tell too much of each;"
    )
    if classes.other:
        page.question(
            f"{text} so all classes that are not among levels count as {text_of(classes.other)}: is"
            " that what you want? (Or leave such rows out.)"
        )
    else:
        page.question(f"{text} leave such rows out, or merge classes (`other`)")


def reading_of(source: SourceLook) -> dict[str, str]:
    """The settings of how a source's files are read that differ from the usual ones, as TOML."""
    reading = {}
    if source.separator not in (None, ","):
        reading["separator"] = text_of(source.separator or "")
    if source.notation.decimal != ".":
        reading["decimal"] = text_of(source.notation.decimal)
    if source.notation.thousands:
        reading["thousands"] = text_of(source.notation.thousands)
    if source.encoding is not None and source.encoding.name != "utf-8":
        reading["encoding"] = text_of(source.encoding.name)
    if source.tokens:
        reading["missing"] = list_of(source.tokens)
    if source.header > 1:
        reading["header"] = str(source.header)
    return reading


def _common_reading(sources: Sequence[SourceLook]) -> dict[str, str]:
    """What is the same unusual thing in all files that can be read."""
    readings = [reading_of(source) for source in sources if source.columns]
    if len(readings) < 2:
        return {}
    first, *others = readings
    common = dict(first)
    for other in others:
        common = dict(common.items() & other.items())
    return {key: common[key] for key in first if key in common}


def _write_columns(page: Page, proposal: Proposal) -> None:
    asked = set()
    open_names = set()
    for match in proposal.matches:
        if not match.certain:
            asked.add(match.column)
            open_names.add(match.own)
    many = len(proposal.columns) > MOST_SECTIONS
    unused = []
    for column in proposal.columns:
        if column.lacking and column.name not in asked and column.name != proposal.target.name:
            if column.name not in open_names:
                unused.append(f"{column.name} (not at {few(column.lacking, 3)})")
        elif column.name == proposal.target.name:
            _write_target(page, column, proposal)
        elif not many or _is_notable(column, proposal):
            _write_column(page, column, proposal)
    if unused:
        page.blank()
        page.comment(f"Not used, since not everybody has them: {few(unused, MOST_NAMED)}.")


def _is_notable(column: ColumnProposal, proposal: Proposal) -> bool:
    """Whether there is more to say of a column than that it has numbers."""
    suspected = any(suspicion.column == column.name for suspicion in proposal.suspicions)
    return (
        column.kind != "number"
        or bool(column.unit or column.missing())
        or suspected
        or column.kinds_differ
    )


def _unit_of(column: ColumnProposal, proposal: Proposal) -> str:
    """The unit of a column, where somebody has, or seems to have, another."""
    for suspicion in proposal.suspicions:
        if suspicion.column == column.name and suspicion.unit:
            return column.unit or suspicion.unit
    return column.unit


def _write_target(page: Page, column: ColumnProposal, proposal: Proposal) -> None:
    unit = _unit_of(column, proposal)
    missing = column.missing()
    fits = column.kind == "number" or proposal.target.classes is not None
    if not unit and not missing and fits and not column.lacking and not column.other_levels():
        return
    page.blank()
    page.lines.append(f"[columns.{key_of(column.name)}]")
    if column.lacking:
        page.question(f"{few(column.lacking, MOST_NAMED)} do(es) not have the target: which is it?")
    if not fits:
        page.question(f"the target seems to be no number, but {column.kind}: is it the right one?")
    _ask_about_other_levels(page, column)
    if unit:
        page.setting("unit", text_of(unit))
    if missing:
        page.question(
            f"{column.name}: {_shares(missing)} missing: shall those rows be left out?",
            'missing = "drop"',
        )


def _write_column(page: Page, column: ColumnProposal, proposal: Proposal) -> None:
    page.blank()
    page.lines.append(f"[columns.{key_of(column.name)}]")
    if not column.kind:
        page.question(f"{column.name}: nobody has a value; what is it?", 'role = "ignore"')
        return
    if column.kinds_differ:
        kinds = few(column.kinds_in_words, MOST_NAMED)
        page.question(f"{column.name} seems to be {kinds}: which is it?")
    why = ""
    for own in column.holders.values():
        if own.guess.kind == column.kind:
            why = own.guess.why
            break
    page.setting("kind", text_of(column.kind), why)
    unit = _unit_of(column, proposal)
    if unit:
        page.setting("unit", text_of(unit))
    if column.levels is not None:
        page.setting("levels", list_of(column.levels), "all that there are")
    elif column.kind == "category":
        page.comment("Not all rows were looked at, so that there may be more levels than here:")
        seen: dict[str, None] = {}
        for own in column.holders.values():
            seen |= dict.fromkeys(own.guess.levels)
        page.lines.append(f"# levels = {list_of(sorted(seen))}")
    _ask_about_other_levels(page, column)
    missing = column.missing()
    if column.empty_at and column.kind in ("number", "category", "date"):
        page.question(
            f"{column.name}: no value at {few(column.empty_at, MOST_NAMED)}; shall nobody's be"
            " used?",
            'role = "ignore"',
        )
    elif missing and column.kind in ("number", "category", "date"):
        page.question(
            f"{column.name}: {_shares(missing)} missing: shall values be filled in? (Or the rows be"
            ' left out: "drop".)',
            'missing = "impute"',
        )
    _ask_about_sentinels(page, column)


def _ask_about_other_levels(page: Page, column: ColumnProposal) -> None:
    for source, levels in column.other_levels().items():
        page.question(
            f"{column.name} at {source} has {few(list(levels), 5)}, which nobody else has; if it is"
            " the same in other words, write it in the same words in all files"
        )


def _ask_about_sentinels(page: Page, column: ColumnProposal) -> None:
    sentinels: dict[str, None] = {}
    sources = []
    for source, own in column.holders.items():
        if own.guess.sentinels:
            sentinels |= dict.fromkeys(own.guess.sentinels)
            sources.append(source)
    if sentinels:
        tokens = list_of(list(sentinels))
        page.question(
            f"{column.name}: {', '.join(sentinels)} at {few(sources)}: is that a missing"
            " value? (In place of any other line that says missing.)",
            f'missing = {{ tokens = {tokens}, do = "impute" }}',
        )


def _shares(missing: Mapping[str, float]) -> str:
    shares = [f"{_percent(share)} at {source}" for source, share in missing.items()]
    return few(shares, MOST_NAMED)


def _percent(share: float) -> str:
    if share < 0.01:
        return "under 1%"
    return as_percent(share)


def _write_source(
    page: Page, source: SourceLook, proposal: Proposal, *, common: Mapping[str, str]
) -> None:
    page.setting("data", text_of(source.data))
    for problem in source.problems:
        page.question(problem)
    whys = _reading_whys(source)
    for key, value in reading_of(source).items():
        if key not in common:
            page.setting(f"reading.{key}", value, whys.get(key, ""))
    # An ordinary setting must not read 1,234 as another number than the party meant.
    if source.notation.doubt:
        page.question(
            f"{source.name}: {source.notation.doubt} may have a decimal comma, or a thousand's:",
            'reading.decimal = ","',
            'reading.thousands = ","',
        )
    if source.doubtful_tokens:
        tokens = list_of([*source.tokens, *source.doubtful_tokens])
        where = ""
        if source.tokens:
            where = ", in place of the line above"
        words = few([text_of(token) for token in source.doubtful_tokens])
        page.question(
            f"{source.name}: does {words} among numbers stand for a missing value?{where}",
            f"reading.missing = {tokens}",
        )
    for line in _own_columns(source, proposal, page):
        page.lines.append(line)


def _reading_whys(source: SourceLook) -> dict[str, str]:
    whys = {}
    if source.separator is not None:
        whys["separator"] = f"{WORDS.get(source.separator, '')}: {source.separator_why}"
    if source.notation.why:
        whys["decimal"] = f"such as {source.notation.why}"
        whys["thousands"] = f"such as {source.notation.why}"
    if source.encoding is not None:
        whys["encoding"] = source.encoding.why
    whys["header"] = "the first line with a name for every column; those above are not read"
    whys["missing"] = "beside the usual words; found among its values"
    return whys


def _own_columns(source: SourceLook, proposal: Proposal, page: Page) -> Iterator[str]:
    """How a source has columns: under which names, in which units and date formats."""
    for match in proposal.matches:
        if match.source != source.name:
            continue
        key = f"columns.{key_of(match.column)}"
        settings = [f"{key}.named = {text_of(match.own)}"]
        if match.own_unit and match.own_unit != match.unit:
            settings.append(f"{key}.from = {text_of(match.own_unit)}")
        if match.certain:
            page.comment(f"'{match.own}' is {match.column}: {match.why}.")
            yield from settings
        else:
            page.question(f"'{match.own}' looks like {match.column}: {match.why}", *settings)
    for suspicion in proposal.suspicions:
        if suspicion.party == source.name:
            settings = []
            if suspicion.own:
                key = f"columns.{key_of(suspicion.column)}"
                settings.append(f"{key}.from = {text_of(suspicion.own)}")
            page.question(str(suspicion), *settings)
    for column in proposal.columns:
        own = column.holders.get(source.name)
        if own is not None and own.guess.dates is not None and own.guess.dates.ambiguous:
            key = f"columns.{key_of(column.name)}.date_format"
            first, *others = own.guess.dates.formats
            page.question(
                f"{column.name}: {own.guess.why} (The other one is {', '.join(others)}.)",
                f"{key} = {text_of(first)}",
            )


def _write_inducing_points(page: Page, proposal: Proposal) -> None:
    """Fewer inducing points than usual, where parties are too small for these."""
    smallest = min(_rows_seen(party) for party in proposal.parties)
    inputs = 0
    for column in proposal.columns:
        is_input = column.kind in INPUT_KINDS and column.name != proposal.target.name
        inputs += is_input and not column.lacking
    classes = 1
    if proposal.target.classes is not None:
        classes = proposal.target.classes.count
    usual = Exposure(
        rows={},
        releases={},
        weights=classes * INDUCING_POINTS,
        classes=classes,
        inputs=inputs,
        hidden=True,
    )
    most = most_weights(usual, smallest, len(proposal.parties) - 1) // classes
    if 0 < most < INDUCING_POINTS:
        why = f"from a larger model, rows of a party with {smallest} rows could be computed"
        page.setting("inducing_points", str(most), why)


def _rows_seen(party: SourceLook) -> int:
    """How many rows of a party were looked at; it may have more."""
    return max((column.rows for column in party.columns.values()), default=0)
