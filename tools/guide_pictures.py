"""Draws the pictures of the guide that explain something: `python tools/guide_pictures.py`.

Each picture is boxes, lines and words, in colours that can be read on white and on black paper.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "guide" / "pictures"
INK, MEMORY, WORK, SLOW = "#555566", "#cfd8e6", "#7fc8a9", "#f0b27a"
FONT = "font-family='sans-serif' font-size='13'"
TITLE = f"{FONT} font-weight='bold'"


def box(x: float, y: float, width: float, words: str, colour: str, height: float = 26) -> str:
    """A rounded box with words in its middle."""
    return (
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='4' fill='{colour}' "
        f"stroke='{INK}'/><text x='{x + width / 2}' y='{y + height / 2 + 5}' {FONT} "
        f"text-anchor='middle' fill='#222'>{words}</text>"
    )


def word(x: float, y: float, words: str, style: str = FONT) -> str:
    """Words that begin at a place."""
    return f"<text x='{x}' y='{y}' {style} fill='#222'>{words}</text>"


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """A line with a head."""
    return (
        f"<line x1='{x}' y1='{y}' x2='{to_x}' y2='{to_y}' stroke='{INK}' stroke-width='1.5' "
        "marker-end='url(#head)'/>"
    )


def svg(width: int, height: int, parts: list[str]) -> str:
    """The file's text, on white paper."""
    head = (
        "<defs><marker id='head' markerWidth='8' markerHeight='8' refX='7' refY='3' orient='auto'>"
        f"<path d='M0,0 L8,3 L0,6 z' fill='{INK}'/></marker></defs>"
    )
    paper = f"<rect width='{width}' height='{height}' rx='6' fill='#ffffff'/>"
    body = "\n".join((head, paper, *parts))
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
        f"width='{width}' height='{height}'>\n{body}\n</svg>\n"
    )


def passes() -> str:
    """NumPy's passes over memory for sqrt(x*x + 1) - exp(-x), and the fused one."""
    steps = ("t1 = x*x", "t2 = t1+1", "t3 = √t2", "t4 = -x", "t5 = exp t4", "y = t3-t5")
    parts = [word(16, 26, "NumPy: six loops, five temporaries in memory", TITLE)]
    parts.append(box(16, 96, 668, "memory", MEMORY))
    for place, step in enumerate(steps):
        x = 20 + 112 * place
        parts += [box(x, 40, 100, step, SLOW), arrow(x + 35, 95, x + 35, 69)]
        parts.append(arrow(x + 65, 67, x + 65, 93))
    parts.append(word(16, 162, "Fusewright: one loop, read once, written once", TITLE))
    parts += [box(16, 176, 668, "for each i: y = √(x*x + 1) - exp(-x), in registers", WORK)]
    parts += [
        box(16, 232, 668, "memory", MEMORY),
        arrow(60, 231, 60, 205),
        arrow(640, 203, 640, 229),
    ]
    return svg(700, 274, parts)


def laziness() -> str:
    """What runs while statements are recorded, and when a value is asked for."""
    parts = [word(16, 52, "NumPy", TITLE), word(16, 152, "Fusewright", TITLE)]
    for x, width, words in (
        (110, 130, "a = x*x + 1"),
        (244, 130, "b = sqrt(a)"),
        (378, 130, "c = exp(-x)"),
        (512, 150, "print((b - c).sum())"),
    ):
        parts.append(box(x, 34, width, words, SLOW))
    for x, words in ((110, "a"), (152, "b"), (194, "c")):
        parts.append(box(x, 134, 38, words, MEMORY))
    parts += [box(236, 134, 60, "print", MEMORY), box(300, 134, 120, "one kernel", WORK)]
    parts += [
        word(110, 186, "recorded: nothing runs"),
        word(300, 186, "a value is asked for: it runs"),
    ]
    parts += [arrow(110, 210, 670, 210), word(640, 228, "time")]
    return svg(700, 240, parts)


def fused() -> str:
    """Two loops in a row, and the two fused over strips."""
    parts = [word(16, 26, "Two loops, two passes: b goes to memory and comes back", TITLE)]
    parts += [box(16, 40, 320, "for i: b[i] = smooth(a, i)", SLOW)]
    parts += [box(364, 40, 320, "for i: total += b[i] * b[i]", SLOW)]
    parts += [
        box(16, 96, 668, "memory: a, b", MEMORY),
        arrow(60, 95, 60, 69),
        arrow(290, 67, 290, 93),
    ]
    parts += [arrow(410, 95, 410, 69)]
    parts.append(
        word(16, 162, "Fused: strip after strip, b stays in the cache or in registers", TITLE)
    )
    for place in range(4):
        x = 16 + 168 * place
        parts += [box(x, 176, 80, "smooth", WORK), box(x + 82, 176, 80, "total", WORK)]
        parts.append(arrow(x + 40, 231, x + 40, 205))
    parts.append(box(16, 232, 668, "memory: a", MEMORY))
    return svg(700, 274, parts)


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for picture in (passes, laziness, fused):
        path = FOLDER / f"{picture.__name__}.svg"
        path.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
