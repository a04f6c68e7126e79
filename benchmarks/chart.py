"""A plot as SVG, written by hand: curves over two logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 60, 160, 40, 40
COLOURS = ("#888888", "#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#bcbd22",
           "#17becf", "#ff7f0e")  # fmt: skip


def log_log(title: str, curves: Mapping[str, Mapping[int, float]]) -> str:
    """One polyline with dots for each curve, its name at the right end."""
    xs = [math.log10(x) for curve in curves.values() for x in curve]
    ys = [math.log10(y) for curve in curves.values() for y in curve.values()]
    low, high = math.floor(min(ys)), math.ceil(max(ys))
    across = (WIDTH - LEFT - RIGHT) / max(max(xs) - min(xs), 1)
    down = (HEIGHT - TOP - BOTTOM) / (high - low)

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + (math.log10(x) - min(xs)) * across, TOP + (high - math.log10(y)) * down

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
    ]
    for power in range(low, high + 1):
        _, y = place(10 ** min(xs), 10.0**power)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        )
    for power in range(math.floor(min(xs)), math.ceil(max(xs)) + 1):
        x, _ = place(10.0**power, 1.0)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 16}" text-anchor="middle">1e{power}</text>')
    ends = sorted((place(*list(curve.items())[-1])[1], name) for name, curve in curves.items())
    heights: dict[str, float] = {}
    for y, name in ends:  # names must not cover one another
        heights[name] = max(y, max(heights.values(), default=0.0) + 14)
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        points = [place(x, y) for x, y in curve.items()]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(
            f'<text x="{WIDTH - RIGHT + 10}" y="{heights[name] + 4:.1f}" fill="{colour}">'
            f"{escape(name)}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"
