"""Noise that is a function of a secret and a row, so that a second release does not undo it.

`secret` holds the key, `identity` says which row is which, `paths` gives each its noise: a Brownian
path in the noise variance eta. `docs/rounds.md` derives what that proves. Nothing here knows what
a model is, or that there are rounds.
"""

from fairpool.keyed_noise.secret import Secret

__all__ = ["Secret"]
