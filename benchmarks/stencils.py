"""Grid programs: 2-D heat and Gray-Scott (100 steps in place), horizontal diffusion, the masked Mandelbrot set; float64.

NumPy and numexpr run few of the steps; their times are scaled to all.
"""

from __future__ import annotations

from cells import diffusion_contestants, mandelbrot_contestants
from grids import gray_scott_contestants, heat_contestants
from pairwise import Contestant, Pair, agree, race_all
from report import Report, Section, milliseconds, start

LEAST = 1.5
"""Times the best peer, from the issue."""


def measure(
    report: Report, section: Section, what: str, ours: Contestant, others: list[Contestant], wrong: float
) -> None:
    """Check, race, judge.  A share `wrong` may differ: points within a rounding of the Mandelbrot set's border."""
    whole = [other for other in others if other.share == 1]
    agree([whole[0], ours, *whole[1:]], rtol=1e-8, atol=1e-10, mismatched=wrong)
    judge(report, section, what, race_all(ours, others, 1.0 if report.quick else 5.0))


def judge(report: Report, section: Section, what: str, pairs: list[Pair]) -> None:
    for pair in pairs:
        section.rows.append((
            what, pair.peer, milliseconds(pair.ours.least), milliseconds(pair.ours.median),
            milliseconds(pair.theirs.least), milliseconds(pair.theirs.median), f"{pair.ratio:.2f}×",
        ))  # fmt: skip
    best = min(pairs, key=lambda pair: pair.ratio)
    report.claim(
        f"{what}: best peer", f"≥ {LEAST}×", f"{best.ratio:.2f}× {best.peer}", best.ratio >= LEAST
    )


def main() -> int:
    report = start("stencils", __doc__ or "")
    section = report.section(
        "Times (ms), pairwise in turns",
        "program", "peer", "ours least", "ours median", "peer least", "peer median", "ratio",
    )  # fmt: skip
    shape = (256, 256, 160)
    measure(report, section, f"horizontal diffusion {shape}", *diffusion_contestants(shape), 0)
    measure(report, section, "heat 2048², 100 steps", *heat_contestants(2048), 0)
    measure(report, section, "Gray-Scott 2048², 100 steps", *gray_scott_contestants(2048), 0)
    measure(report, section, "Mandelbrot 512², 100 iterations", *mandelbrot_contestants(512), 1e-3)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
