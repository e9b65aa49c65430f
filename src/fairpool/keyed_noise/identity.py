"""Which row is which, from one release to the next: 128 bits that nobody can compute or invert.

A row is known by its party, by what it says (inputs, or an id in their stead, and the label), and
by how many equal rows of its party come before it. The party is part of it because otherwise a
party that submits every possible label could strip another's equal row of its noise; equal rows are
counted within the party because otherwise one that leaves would give others' rows new noise.
"""

import unicodedata
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fairpool.errors import DataError, cut
from fairpool.keyed_noise.block_cipher import BlockCipher, Blocks
from fairpool.keyed_noise.cells import Column, cells_of
from fairpool.keyed_noise.secret import Secret
from fairpool.tables.arrays import as_count


def row_digests(secret: Secret, party: str, columns: Mapping[str, Column]) -> Blocks:
    """A keyed digest of what each row says [m, 2]; equal rows of a party have equal ones.

    A row is one block of 128 bits per column, in the order of the columns' names
    (`fairpool.keyed_noise.cells`), and its digest is their CBC-MAC: with b_1 .. b_p the blocks,

        h_0 = 0,   h_j = AES(h_{j-1} xor b_j),   the digest is h_p

    CBC-MAC is a pseudorandom function of messages of one length (Bellare, Kilian, Rogaway 2000):
    q rows of p blocks are told from random digests with a chance of at most about 2 q^2 p^2 / 2^128
    beyond that of breaking AES. All messages under one key have one length here, because the key is
    derived from the party and the names of all columns.

    Neither the order of columns nor their chunks, nor how values are stored, makes a difference.

    Args:
        secret: The collaboration's.
        party: The party's permanent id.
        columns: By name, the columns that tell rows apart, and the label [m] each.
    """
    where = f'party "{cut(party)}"'
    named = _in_order(columns, where)
    names = [name.encode("utf-8", "surrogatepass") for name in named]
    key = secret.subkey("row digest", _normal(party).encode("utf-8", "surrogatepass"), *names)
    cipher = BlockCipher(key)
    text_key = secret.subkey("text of a row")
    digests: Blocks | None = None
    for name, column in named.items():
        blocks = cells_of(column, f'{where}, column "{cut(name)}"', text_key)
        if digests is not None:
            if len(blocks) != len(digests):
                raise DataError(
                    f'{where}: column "{cut(name)}" has {len(blocks)} rows, those before it'
                    f" {len(digests)}; give columns of one table"
                )
            blocks ^= digests
        digests = cipher.encrypt(blocks)
    if digests is None:
        raise DataError(f"{where}: no column tells its rows apart; name its inputs or an id")
    return digests


def row_ids(secret: Secret, digests: Blocks) -> Blocks:
    """The identity of each row of one party [m, 2]: its digest, and which of the equal rows it is.

    Equal rows are numbered 0, 1, 2 ... in the order in which they appear. If they change places
    nothing changes, since they say the same. The id is again a CBC-MAC, of two blocks.

    Args:
        secret: The collaboration's.
        digests: Those of all rows of the party [m, 2].
    """
    cipher = BlockCipher(secret.subkey("row id"))
    counts = occurrences(digests)  # first, since putting rows in order takes memory of its own
    blocks = cipher.encrypt(digests)
    blocks[:, 0] ^= counts
    return cipher.encrypt(blocks)


def occurrences(digests: Blocks) -> NDArray[np.uint64]:
    """For each row [m], how many before it are equal."""
    order = np.lexsort((digests[:, 1], digests[:, 0]))  # equal ones stay in their order
    in_order = digests[order]
    begins = np.ones(len(digests), dtype=bool)
    begins[1:] = (in_order[1:] != in_order[:-1]).any(axis=1)
    del in_order  # of millions of rows, what is not needed any longer is worth freeing
    places = np.arange(len(digests))
    first = np.where(begins, places, 0)
    np.maximum.accumulate(first, out=first)
    places -= first
    counts = np.empty(len(digests), np.uint64)
    counts[order] = places
    return counts


def coordinate_ids(secret: Secret, contribution: str, d: int) -> Blocks:
    """The identity of each coordinate of a contribution that is sums only [d, 2].

    Args:
        secret: The collaboration's.
        contribution: Its permanent name, with the party's in it: another one has other noise.
        d: How many coordinates.
    """
    name = _normal(contribution).encode("utf-8", "surrogatepass")
    blocks = np.zeros((as_count(d, "d", 0), 2), np.uint64)
    blocks[:, 0] = np.arange(len(blocks))
    return BlockCipher(secret.subkey("coordinate", name)).encrypt(blocks)


def _in_order(columns: Mapping[str, Column], where: str) -> dict[str, Column]:
    """The columns in the order of their names, each in one Unicode form."""
    named: dict[str, Column] = {}
    for name in sorted(columns, key=_normal):
        if _normal(name) in named:
            raise DataError(f'{where}: two columns are named "{cut(name)}"; rename one of them')
        named[_normal(name)] = columns[name]
    return named


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)
