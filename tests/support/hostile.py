"""What an attacker makes: names that are orders to a terminal, and reward files of own content."""

import json

import safetensors.numpy

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x1b[31m"
"""Sets the window's title, clears the screen, and writes on in red."""

FORGED = "\nNo problem found."
"""A line that the command itself writes."""

C1 = "\x9b2J"
"""The same as ESC [ 2 J on a terminal that knows the eight-bit form."""

RIGHT_TO_LEFT = "\u202e"
"""Shows what follows backwards: a name that ends in vsc.exe ends in exe.csv on the screen."""


EVERYTHING = ESCAPE + FORGED + C1 + RIGHT_TO_LEFT


def edited_reward(file, to, *, encoding=None, **changes):
    """A copy of a reward file whose description, or the encoding in it, says something else."""
    content = file.read_bytes()
    tensors = safetensors.numpy.load(content)
    length = int.from_bytes(content[:8], "little")
    entry = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["fairpool"])
    entry.update(changes)
    entry["encoding"].update(encoding or {})
    metadata = {"fairpool": json.dumps(entry, sort_keys=True, separators=(",", ":"))}
    to.write_bytes(safetensors.numpy.save(tensors, metadata=metadata))
    return to
