"""Where chance comes from. The secret can undo noise and swaps, so it is drawn fresh and kept only in the private run folder."""

import hashlib
import secrets

import numpy as np
from numpy.random import Generator


def new_secret() -> int:
    """128 bits nobody can guess."""
    return secrets.randbits(128)


def rng_for(secret: int, *step: object) -> Generator:
    """A stream of its own for every (secret, step), so that no step's draws depend on what ran before it."""
    label = "/".join(map(str, step)).encode()
    words = np.frombuffer(hashlib.sha256(label).digest(), dtype=np.uint32)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([secret, *map(int, words)])))
