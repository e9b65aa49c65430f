"""AES over many blocks of 128 bits at once.

A block is two numbers of 64 bits, the low bytes first whatever the machine.
"""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Blocks = NDArray[np.uint64]
"""Blocks of 128 bits [m, 2]."""

BLOCK_BYTES = 16


class BlockCipher:
    """AES with one key, each block for itself (ECB).

    Under a key that nobody knows, AES cannot be told from a random permutation of the 2^128 blocks;
    on q distinct blocks that is a random function but for a chance of q^2 / 2^129. Equal blocks
    become equal ones, which is what is wanted here: nothing that AES makes is ever sent to anybody.

    Args:
        key: 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def encrypt(self, blocks: Blocks) -> Blocks:
        """The image of each block [m, 2]."""
        content = np.ascontiguousarray(blocks, dtype="<u8").view(np.uint8).reshape(-1)
        # The library asks for room for one block more.
        room = bytearray(len(content) + BLOCK_BYTES - 1)
        if len(content):
            self._encryptor.update_into(content.data, room)
        images = np.frombuffer(room, dtype="<u8", count=2 * len(blocks))
        return images.reshape(-1, 2).astype(np.uint64, copy=False)
