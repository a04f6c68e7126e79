"""Grid programs: 2-D heat and Gray-Scott (100 steps in place), horizontal diffusion, the masked
Mandelbrot set; float64.

The peers of the claim run the array program; a loop nest written and fused by hand for Numba is
judged apart.  NumPy and numexpr run few of the steps; their times are scaled to all.
"""

from __future__ import annotations

from cells import diffusion_contestants, mandelbrot_contestants
from grids import gray_scott_contestants, heat_contestants
from pairwise import Contestant, compete
from report import Report, Section, start

LEAST = 1.5
"""Times the best peer, from the issue."""


def measure(
    report: Report,
    section: Section,
    what: str,
    ours: Contestant,
    others: list[Contestant],
    wrong: float,
) -> None:
    """Check, race, judge.  A share `wrong` may differ: points at the set's border."""
    pairs, notes = compete(
        ours, others, 0.5 if report.quick else 5.0, rtol=1e-8, atol=1e-10, mismatched=wrong
    )
    report.notes += [f"{what}: {note}" for note in notes]
    section.add_pairs(what, pairs)
    best = min((pair for pair in pairs if not pair.by_hand), key=lambda pair: pair.ratio)
    report.claim(
        f"{what}: best peer", f"≥ {LEAST}×", f"{best.ratio:.2f}× {best.peer}", best.ratio >= LEAST
    )
    hand = min((pair for pair in pairs if pair.by_hand), key=lambda pair: pair.ratio)
    report.claim(
        f"{what}: loop fused by hand", "≥ 1×", f"{hand.ratio:.2f}× {hand.peer}", hand.ratio >= 1
    )


def main() -> int:
    report = start("stencils", __doc__ or "")
    section = report.pairs_section()
    shape = (256, 256, 160)
    measure(report, section, f"horizontal diffusion {shape}", *diffusion_contestants(shape), 0)
    measure(report, section, "heat 2048², 100 steps", *heat_contestants(2048), 0)
    measure(report, section, "Gray-Scott 2048², 100 steps", *gray_scott_contestants(2048), 0)
    measure(report, section, "Mandelbrot 512², 100 iterations", *mandelbrot_contestants(512), 1e-3)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
