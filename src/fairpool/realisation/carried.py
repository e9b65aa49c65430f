"""A signed statement inside a reward file, beside what the file says itself.

It stands in an entry of its own, so that whoever knows nothing of statements reads the file as
ever. What it is about is the file's content, by the digest that the content has without it.
"""

import json

from fairpool.errors import RewardFileError
from fairpool.realisation.reward_file import ENTRY
from fairpool.realisation.tensor_file import metadata_of

STATEMENT_ENTRY = "fairpool-statement"

ALIGNED = 8
"""The tensors of a safetensors file begin at a multiple of so many bytes."""


def content_digest(content: bytes) -> str:
    """What a reward file calls its own content, a statement aside; nobody has checked it here."""
    digest = json.loads(metadata_of(content)[ENTRY])["sha256"]
    assert isinstance(digest, str)  # the file is ours, or `decode_reward` has looked at it
    return digest


def with_statement(content: bytes, statement: bytes) -> bytes:
    """The same reward file, carrying a statement.

    Args:
        content: Of the file.
        statement: A signed document, in ASCII.
    """
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    text = statement.decode("ascii").removesuffix("\n")
    header["__metadata__"] = {**header["__metadata__"], STATEMENT_ENTRY: text}
    changed = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    changed += b" " * (-len(changed) % ALIGNED)
    return len(changed).to_bytes(8, "little") + changed + content[8 + length :]


def statement_in(content: bytes, name: str) -> bytes | None:
    """The statement that a reward file carries; None: it carries none.

    Args:
        content: Of a file that `decode_reward` has looked at.
        name: What errors call it, such as the file's path.
    """
    text = metadata_of(content).get(STATEMENT_ENTRY)
    if text is None:
        return None
    try:
        return text.encode("ascii")
    except UnicodeEncodeError:
        raise RewardFileError(
            f"{name}: the statement in it is none of fairpool's; ask for the file again"
        ) from None
