"""NumPy's global random numbers, `np.random.rand()` and its like, written in the language of
kernels: the Mersenne Twister MT19937, and what NumPy's `RandomState` makes of its words.

`words` holds the 624 words of the state, the place of the next one, and whether `gauss` holds a
number that is left over.
"""

from __future__ import annotations

import math
from typing import Any

LOW = 0xFFFFFFFF
"""32 bits."""


def word(words: Any) -> int:
    """The next 32 bits."""
    place = int(words[624])
    if place >= 624:
        for i in range(624):
            high = int(words[i]) & 0x80000000
            low = int(words[(i + 1) % 624]) & 0x7FFFFFFF
            both = high | low
            mixed = int(words[(i + 397) % 624]) ^ (both >> 1)
            if both & 1 == 1:
                mixed = mixed ^ 0x9908B0DF
            words[i] = mixed
        place = 0
    y = int(words[place])
    words[624] = place + 1
    y = y ^ (y >> 11)
    y = y ^ ((y << 7) & 0x9D2C5680)
    y = y ^ ((y << 15) & 0xEFC60000)
    return y ^ (y >> 18)


def seed(words: Any, number: int) -> None:
    """`np.random.seed(number)`."""
    if number < 0 or number > 0xFFFFFFFF:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    last = number
    for i in range(624):
        words[i] = last
        last = (1812433253 * (last ^ (last >> 30)) + i + 1) & 0xFFFFFFFF
    words[624] = 624
    words[625] = 0


def double(words: Any) -> float:
    """A number in [0, 1) of 53 bits."""
    high = word(words) >> 5
    low = word(words) >> 6
    return (high * 67108864.0 + low) / 9007199254740992.0


def uniform(words: Any, low: float, distance: float) -> float:
    """`np.random.uniform`."""
    return low + distance * double(words)


def normal(words: Any, gauss: Any) -> float:
    """`np.random.standard_normal`: two at a time, the second is kept."""
    found = 0.0
    if words[625] != 0:
        found = float(gauss[0])
        words[625] = 0
        gauss[0] = 0.0
    else:
        x = 0.0
        y = 0.0
        square = 0.0
        while square >= 1.0 or square == 0.0:
            x = 2.0 * double(words) - 1.0
            y = 2.0 * double(words) - 1.0
            square = x * x + y * y
        scale = math.sqrt(-2.0 * math.log(square) / square)
        gauss[0] = scale * x
        words[625] = 1
        found = scale * y
    return found


def exponential(words: Any) -> float:
    """`np.random.standard_exponential`."""
    return -math.log(1.0 - double(words))


def up_to(words: Any, most: int) -> int:
    """A whole number in [0, most]: bits that are too large are thrown away."""
    found = 0
    if most > 0:
        mask = most
        mask = mask | (mask >> 1)
        mask = mask | (mask >> 2)
        mask = mask | (mask >> 4)
        mask = mask | (mask >> 8)
        mask = mask | (mask >> 16)
        mask = mask | (mask >> 32)
        found = most + 1
        while found > most:
            if most > 0xFFFFFFFF:
                high = word(words)
                found = ((high << 32) | word(words)) & mask
            else:
                found = word(words) & mask
    return found


def integer(words: Any, low: int, high: int) -> int:
    """`np.random.randint`."""
    if low >= high:
        raise ValueError("low >= high")
    return low + up_to(words, high - 1 - low)


def shuffle(words: Any, a: Any) -> None:
    """`np.random.shuffle` of one dim."""
    n = len(a)
    for turn in range(1, n):
        i = n - turn
        j = up_to(words, i)
        kept = a[i]
        a[i] = a[j]
        a[j] = kept


def permutation(words: Any, out: Any) -> Any:
    """`np.random.permutation(n)` into an array."""
    for i in range(len(out)):
        out[i] = i
    shuffle(words, out)
    return out


def refuse_sample(wanted: int, count: int) -> None:
    """What `np.random.choice` says of more different ones than there are."""
    if wanted > count:
        raise ValueError("Cannot take a larger sample than population when replace is False")
