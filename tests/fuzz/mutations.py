"""Random damage: to bytes, and to values inside of a structure that stays whole."""

import random

HOSTILE_TEXTS = (
    "",
    " ",
    "nan",
    "-inf",
    "1e400",
    "1e308",
    "-1e20",
    "5e-324",
    "0x10",
    "1" + "0" * 400,
    "=cmd()",
    "x\ty",
    "a\x00b",
    "\x1b[2J",
    "two\nlines",
    "\u202etxt.exe",
    "\ud7ff\ufeff",
    "𝔘" * 90,
    "z" * 5000,
    '"',
    "'; --",
    "../../etc/passwd",
    "Party 0",
    "rbf * (rbf + 1)",
    "(" * 500,
)

HOSTILE_NUMBERS = (
    0,
    -1,
    1,
    2**31,
    2**63,
    -(2**63),
    10**400,
    0.5,
    -0.0,
    1e-320,
    1e20,
    1.7e308,
    float("inf"),
    float("-inf"),
    float("nan"),
)

SPLICES = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\n",
    b'"',
    b",,,,",
    b"[[",
    b"1e999",
    b"\xf0\x9f",
    b"{" * 300,
)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Bytes with one to four pieces flipped, cut out, doubled or replaced."""
    damaged_content = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        size = len(damaged_content)
        start = rng.randrange(size + 1)
        end = min(size, start + int(rng.paretovariate(0.7)))
        how = rng.choice(("flip", "cut", "double", "splice", "end"))
        if how == "flip" and start < size:
            damaged_content[start] ^= 1 << rng.randrange(8)
        elif how == "cut":
            del damaged_content[start:end]
        elif how == "double":
            damaged_content[start:start] = damaged_content[start:end]
        elif how == "splice":
            damaged_content[start:end] = rng.choice(SPLICES)
        elif how == "end" and rng.random() < 0.3:
            del damaged_content[start:]
    return bytes(damaged_content)


def hostile_value(rng: random.Random, depth: int = 0):
    """A value of any kind that TOML and JSON have."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(HOSTILE_NUMBERS)
    if kind == 1:
        return rng.choice((True, False))
    if kind == 2 and depth < 3:
        return [hostile_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 3 and depth < 3:
        return {rng.choice(HOSTILE_TEXTS): hostile_value(rng, depth + 1)}
    return rng.choice(HOSTILE_TEXTS)


def with_other_values(tree, rng: random.Random):
    """A copy of nested dicts and lists with one to three entries changed, renamed or taken away."""
    copy = _copied(tree)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(copy))
        if not places:
            return copy
        where, key = rng.choice(places)
        how = rng.randrange(8)
        if how == 0:
            del where[key]
        elif how == 1 and isinstance(where, dict):
            where[rng.choice(HOSTILE_TEXTS)] = where.pop(key)
        elif how == 2 and isinstance(where, list):
            where.insert(0, _copied(where[key]))
        elif how == 3:
            donor, other = rng.choice(places)
            where[key] = _copied(donor[other])
        else:
            where[key] = hostile_value(rng)
    return copy


def _copied(tree):
    if isinstance(tree, dict):
        return {key: _copied(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_copied(value) for value in tree]
    return tree


def _places(tree):
    """Every entry of a nested structure, as what it is in and under which key or number."""
    keys = ()
    if isinstance(tree, dict):
        keys = list(tree)
    elif isinstance(tree, list):
        keys = range(len(tree))
    for key in keys:
        yield tree, key
        yield from _places(tree[key])
