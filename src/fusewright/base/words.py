"""Numbers as people read them: bytes, seconds, counts.  All reports and messages spell them so."""

from __future__ import annotations

_TIMES = ((1.0, "s"), (1e3, "ms"), (1e6, "us"))
_UNITS = {
    1000: ("B", "kB", "MB", "GB", "TB", "PB", "EB"),
    1024: ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"),
}


def size(nbytes: float) -> str:
    """A number of bytes in decimal units, as bandwidths are quoted.

    >>> [size(n) for n in (0, 999, 1000, 24_000_000, 999_999, 1.5e12)]
    ['0 B', '999 B', '1.00 kB', '24.0 MB', '1.00 MB', '1.50 TB']
    """
    return _sized(nbytes, 1000)


def memory(nbytes: float) -> str:
    """The same in binary units, as memory and arrays are sold and allocated.

    >>> [memory(n) for n in (0, 1023, 3 << 29, 1 << 80)]
    ['0 bytes', '1023 bytes', '1.5 GiB', '1,048,576 EiB']
    """
    number, unit = _sized(nbytes, 1024).split()
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def _sized(nbytes: float, base: int) -> str:
    units = _UNITS[base]
    power = 0
    while power + 1 < len(units) and _rounded(abs(nbytes) / base**power) >= base:
        power += 1
    return f"{_digits(nbytes / base**power) if power else f'{nbytes:.0f}'} {units[power]}"


def seconds(value: float) -> str:
    """A duration with three digits.

    >>> [seconds(s) for s in (0, 7.8e-6, 0.0456, 1.234, 0.9996)]
    ['0 s', '7.80 us', '45.6 ms', '1.23 s', '1.00 s']
    """
    if value == 0:
        return "0 s"
    fitting = (each for each in _TIMES if abs(value) * each[0] > 0.995)  # shown as 1.00 at least
    scale, unit = next(fitting, _TIMES[-1])
    return f"{_digits(value * scale)} {unit}"


def times_as_much(more: float, less: float) -> str:
    """How many times as much; nothing where it is not more, or the other is nothing.

    >>> [times_as_much(n, 20) for n in (20, 20.5, 30, 240, 26504)], times_as_much(3, 0)
    (['', '', '1.5x', '12x', 'over 1,000x'], '')
    """
    ratio = more / less if less > 0 else 0.0
    if ratio > 1000:
        return "over 1,000x"
    return "" if ratio < 1.05 else f"{ratio:.1f}x" if ratio < 9.95 else f"{ratio:.0f}x"


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "kernel"), count(1200, "kernel")
    ('1 kernel', '1,200 kernels')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _rounded(value: float) -> float:
    """What three digits show of it: 999.9 is 1,000 to the reader."""
    return float(_digits(value).replace(",", ""))


def _digits(value: float) -> str:
    """Three digits at least.

    >>> [_digits(x) for x in (1.234, 9.999, 12.34, 99.96, 123.4, 1234.5)]
    ['1.23', '10.0', '12.3', '100', '123', '1,234']
    """
    for least, digits in ((99.95, 0), (9.995, 1)):
        if abs(value) >= least:
            return f"{value:,.{digits}f}"
    return f"{value:.2f}"
