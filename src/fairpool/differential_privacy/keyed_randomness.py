"""Random numbers that are a function of a key: who asks twice with the same key gets the same ones.

Whoever does not know the key cannot tell them from the operating system's, as far as AES cannot be
told from a random permutation.
"""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

BLOCK = 16
"""Bytes of AES's block; the counter begins at 0, since no key is ever used twice."""

AT_ONCE = 1 << 16
"""So many bytes are made at a time."""


class KeyedRandomness:
    """A stream of random whole numbers; it goes on with every draw.

    Args:
        key: 32 bytes, of this one use.
    """

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(BLOCK))).encryptor()
        self._made = b""
        self._used = 0

    def below(self, most: int) -> int:
        """A whole number from 0 to most - 1, each as likely as the others."""
        bits = (most - 1).bit_length()
        while True:  # half of all draws are below, or more
            drawn = int.from_bytes(self._take((bits + 7) // 8), "little") & ((1 << bits) - 1)
            if drawn < most:
                return drawn

    def _take(self, count: int) -> bytes:
        if len(self._made) - self._used < count:
            rest = self._made[self._used :]
            self._made = rest + self._encryptor.update(bytes(max(AT_ONCE, count)))
            self._used = 0
        taken = self._made[self._used : self._used + count]
        self._used += count
        return taken
