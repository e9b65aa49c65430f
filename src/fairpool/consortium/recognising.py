"""Files of fairpool in which `fairpool inspect` has nothing to check: what each is, and what for.

Each is known by its content. A file that is named here holds nothing secret that would be shown:
of a key it is only said that it is one.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass

from fairpool.canonical import decoded
from fairpool.keyed_noise.secret import FORMAT as SECRET
from fairpool.signatures.signing_key import FORMAT as SIGNING_KEY

BEGINNING = 4096
"""In so many bytes a file says what it is."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of file.

    Attributes:
        what: What it is, in words.
        use: What to do with it, with the command for it.
        is_one: Whether a content is such a file.
    """

    what: str
    use: str
    is_one: Callable[[bytes], bool]


def recognised(content: bytes) -> Kind | None:
    """What a file is; None: none of these."""
    for kind in KINDS:
        if kind.is_one(content):
            return kind
    return None


def _begins(start: str) -> Callable[[bytes], bool]:
    return lambda content: content.lstrip().startswith(start.encode())


def _is_page_with(*words: str) -> Callable[[bytes], bool]:
    """A page of ours with these words near its beginning, after its style."""

    def is_one(content: bytes) -> bool:
        is_page = content.startswith(b"<!DOCTYPE html>")
        return is_page and all(word.encode() in content[: 4 * BEGINNING] for word in words)

    return is_one


def _is_json_with(*keys: str) -> Callable[[bytes], bool]:
    """A JSON object with these keys at least, written on several lines."""

    def is_one(content: bytes) -> bool:
        if not content.startswith(b"{\n"):
            return False
        return all(re.search(rb'^ "%s": ' % key.encode(), content, re.M) for key in keys)

    return is_one


def _is_json_line_with(*keys: str) -> Callable[[bytes], bool]:
    """A first line that is a JSON object with exactly these keys."""

    def is_one(content: bytes) -> bool:
        if not content.startswith(b"{"):
            return False
        try:
            entries = decoded(content.split(b"\n", 1)[0])
        except ValueError:
            return False
        return isinstance(entries, dict) and set(entries) == set(keys)

    return is_one


def _is_configuration(content: bytes) -> bool:
    try:
        entries = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    return {"target", "parties"} <= set(entries)


def _has_header(pattern: str) -> Callable[[bytes], bool]:
    """A CSV file whose first line matches."""
    return lambda content: bool(re.search(pattern.encode(), content.split(b"\n", 1)[0].rstrip()))


def _is_table_of_values(content: bytes) -> bool:
    """Whether each coalition stands in a line of 0 and 1, and its value after these."""
    header, _, rest = content[:BEGINNING].partition(b"\n")
    first = rest.split(b"\n", 1)[0].rstrip()
    is_coalition = re.fullmatch(rb"(?:[01],)+[0-9.e+-]+", first) is not None
    return header.rstrip().endswith(b",value") and is_coalition


KINDS = (
    Kind(
        what="the operator's report of a run; it names every party's values",
        use="open it in a browser, and hand it to nobody; what each party is handed is its folder"
        " in parties/. `fairpool rounds FOLDER` lists all rounds",
        is_one=_is_page_with("This page names every party's values"),
    ),
    Kind(
        what="the report of `fairpool reproduce`: the paper's figures, computed anew",
        use="open it in a browser; `fairpool reproduce` makes it again",
        is_one=lambda content: (
            _is_page_with("<h1>The paper, reproduced</h1>")(content)
            or content.startswith(b"# The paper, reproduced")
        ),
    ),
    Kind(
        what="a model card: what somebody should know who meets a reward file",
        use="read it, and keep it beside the model; `fairpool inspect reward.safetensors` says what"
        " the model itself is",
        is_one=_begins("# Model card: "),
    ),
    Kind(
        what="a template of a data agreement",
        use="fill in its blanks, and have the parties sign it; `fairpool agreement FOLDER` makes it"
        " again",
        is_one=_begins("# Agreement on pooling data: "),
    ),
    Kind(
        what="a ledger: what a collaboration released, line by line",
        use="`fairpool ledger verify FOLDER` checks it, `fairpool ledger show FOLDER` shows it,"
        " and `fairpool rounds FOLDER` lists the rounds in it",
        is_one=_is_json_line_with("body", "kind", "mac", "number", "previous", "time", "version"),
    ),
    Kind(
        what="every number of a run, for programs; for the operator alone",
        use="`fairpool run FOLDER --json` prints the same, and report.html beside it shows it",
        is_one=_is_json_with("fairpool", "round", "parties", "total"),
    ),
    Kind(
        what="the coefficients of a linear reward, exported",
        use='any program can predict with them: the key "how" says how; to check or update the'
        " reward, use its own file (`fairpool verify`, `fairpool update`)",
        is_one=lambda content: b'"format": "fairpool coefficients"' in content[:BEGINNING],
    ),
    Kind(
        what="a reward as an ONNX model, exported",
        use="any ONNX runtime predicts with it; to check or update the reward, use its own file"
        " (`fairpool verify`, `fairpool update`)",
        is_one=lambda content: b"fairpool.worth_nats" in content and not content.startswith(b"{"),
    ),
    Kind(
        what="what an audit found",
        use="`fairpool audit FOLDER ROUND` finds it anew; with --sign an auditor signs it",
        is_one=_is_json_with("ok", "findings"),
    ),
    Kind(
        what="a private signing key; whoever has it signs in its owner's name",
        use="show it to nobody; `fairpool keys show` prints the public half, for the operator",
        is_one=_begins(SIGNING_KEY),
    ),
    Kind(
        what="a secret from which noise is made; whoever has it can take the noise off",
        use="show it to nobody, and keep a copy in a safe place; `fairpool key rotate FOLDER`"
        " exchanges an operator's",
        is_one=_begins(SECRET),
    ),
    Kind(
        what="the SHA-256 of every table of a run",
        use="`sha256sum --check` compares the tables with it, in the collaboration's folder",
        is_one=lambda content: re.match(rb"[0-9a-f]{64}  [^\n]+\n", content) is not None,
    ),
    Kind(
        what="the value of every group's data; for the operator alone",
        use="open it as a table; report.html beside it draws it",
        is_one=_is_table_of_values,
    ),
    Kind(
        what="predictions of `fairpool predict`",
        use="open it as a table; `fairpool inspect reward.safetensors` says which model made them",
        is_one=_has_header(r"(lower_95,upper_95|,doubt)(,|$)"),
    ),
    Kind(
        what="a collaboration's configuration",
        use="`fairpool check FOLDER` checks it with its tables, and `fairpool run FOLDER` runs it",
        is_one=_is_configuration,
    ),
    Kind(
        what="which round is the latest",
        use="`fairpool rounds FOLDER` lists all of them",
        is_one=lambda content: re.fullmatch(rb"rounds/[0-9]{4}\n", content) is not None,
    ),
)
"""All of them; the first that fits counts."""

STATE = Kind(
    what="a file that fairpool keeps for itself, of what it has to know in the next round",
    use="leave it as it is, and back it up with the ledger; `fairpool rounds FOLDER` lists rounds",
    is_one=lambda _: False,
)
"""Of the folder of a collaboration's state, known by its place alone."""
