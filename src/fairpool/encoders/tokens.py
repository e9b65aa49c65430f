"""Texts as tokens, by a tokenizer.json."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairpool.encoders.folder import TOKENIZER, EncoderFiles
from fairpool.errors import EncoderError, cut

MOST_TOKENS = 512
"""Of a text, unless its encoder says otherwise; what comes after them is not read."""

LARGEST_LIMIT = 8192
"""Whatever an encoder says, of a text no more tokens than this."""

MOST_WORDS = 1 << 22
"""Of a vocabulary."""


def missing_extra(what: str, package: str) -> EncoderError:
    """That a package is needed which a plain install lacks."""
    return EncoderError(f"{what} needs {package}; install it: pip install 'fairpool[encoders]'")


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokens:
    """A tokenizer that cuts long texts, and never pads.

    Attributes:
        tokenizer: That of the package tokenizers.
        most: So many tokens of a text count.
        where: The file, for errors.
    """

    tokenizer: Any
    most: int
    where: str

    @classmethod
    def of(cls, files: EncoderFiles, most: int | None = None) -> "Tokens":
        """The tokenizer of an encoder.

        Args:
            files: The encoder's.
            most: How many tokens count; None: as the tokenizer itself says.
        """
        where = files.folder / TOKENIZER
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise missing_extra(f"the encoder {files.folder}", "tokenizers") from None
        try:
            tokenizer = Tokenizer.from_buffer(files.contents[TOKENIZER])
        except Exception as error:  # the package has no errors of its own
            what = cut(str(error))
            raise EncoderError(f"{where}: not a tokenizer ({what}); ask for it again") from None
        if not 1 <= tokenizer.get_vocab_size() <= MOST_WORDS:
            raise EncoderError(
                f"{where}: {tokenizer.get_vocab_size()} words, and 1 to {MOST_WORDS} are allowed;"
                " take another encoder"
            )
        if most is None:
            most = (tokenizer.truncation or {}).get("max_length", MOST_TOKENS)
        most = max(1, min(most, LARGEST_LIMIT))
        tokenizer.no_padding()
        tokenizer.enable_truncation(most)
        return cls(tokenizer=tokenizer, most=most, where=str(where))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words or parts of words that it knows, by number."""
        by_word = self.tokenizer.get_vocab()
        return tuple(sorted(by_word, key=by_word.__getitem__))

    @property
    def last(self) -> int:
        """The largest number that a token may have."""
        return int(max(self.tokenizer.get_vocab().values()))

    @cached_property
    def longest(self) -> int:
        """So many characters of a text are looked at: enough for all tokens that count.

        As model2vec has it: words of the vocabulary's median length.
        """
        median = int(np.median([len(word) for word in self.words]))
        return self.most * max(median, 1)

    @cached_property
    def unknown(self) -> int | None:
        """The token that stands for any word that is not known; None: there is none."""
        model = self.tokenizer.model
        if hasattr(model, "unk_token"):
            name = model.unk_token
            return None if name is None else self.tokenizer.token_to_id(name)
        # Of a unigram model the package gives only the whole description.
        number = json.loads(self.tokenizer.to_str())["model"].get("unk_id")
        return number if isinstance(number, int) else None

    def of_text(self, text: str, *, marks: bool) -> list[int]:
        """The tokens of one text.

        Args:
            text: Any.
            marks: Whether those that mark beginning and end are among them.
        """
        try:
            encoding = self.tokenizer.encode(text[: self.longest], add_special_tokens=marks)
        except Exception as error:  # such as a word that is not known, where nothing stands for it
            what = cut(str(error))
            raise EncoderError(f"{self.where}: it fails on a text ({what})") from None
        return list(encoding.ids)

    def text_of(self, token: int) -> str:
        """A token as a text."""
        return str(self.tokenizer.decode([token], skip_special_tokens=False))
