"""The programs of the gallery, one row each."""

from __future__ import annotations

from fusewright.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A program: its size where none is given, the names compared, and what it teaches."""

    name: str
    title: str
    size: int
    results: tuple[str, ...]
    moral: str
    loops: bool = False
    """Whether it is a loop over elements, timed against Python instead of NumPy."""

    @property
    def file(self) -> str:
        """The file's name in `programs/`."""
        return f"{self.name}.py"


_ROWS = (
    Entry(
        "wave",
        "Ripples pass a wall with two gaps (wave equation)",
        700,
        ("now",),
        "Slices of one array in one statement are one pass over memory.",
    ),
    Entry(
        "heat",
        "Heat spreads from two hot bars (masked stencil)",
        800,
        ("u",),
        "np.where costs nothing extra: both sides are computed in registers.",
    ),
    Entry(
        "gray_scott",
        "Two chemicals grow spots (reaction and diffusion)",
        384,
        ("u", "v"),
        "Thousands of equal steps are compiled once and replayed.",
    ),
    Entry(
        "mandelbrot",
        "The Mandelbrot set, all points at once",
        800,
        ("steps",),
        "A masked iteration keeps its state in registers over several rounds.",
    ),
    Entry(
        "life",
        "Conway's Game of Life on a torus",
        1024,
        ("alive",),
        "NumPy is fast on bytes: a run of a tenth of a second only pays for the start.",
    ),
    Entry(
        "nbody",
        "Two clusters of stars meet (forces between all pairs)",
        1000,
        ("x", "y"),
        "Tables of n by n that are only summed are never stored.",
    ),
    Entry(
        "sharpen",
        "A photograph is blurred, sharpened, toned (float32)",
        3000,
        ("image",),
        "A chain of filters on a large image is bound by memory, until it fuses.",
    ),
    Entry(
        "black_scholes",
        "Option prices over price and time",
        1500,
        ("call", "put"),
        "Long formulas are where fusion and vector functions meet.",
    ),
    Entry(
        "attention",
        "Attention weights: scores, mask, softmax",
        2048,
        ("queries",),
        "The products stay the library's; the softmax between them is ours.",
    ),
    Entry(
        "kmeans",
        "Pixels find the nearest of eight centres",
        1000,
        ("centres",),
        "float() in a loop asks for values: ask for all of them together.",
    ),
    Entry(
        "lattice_boltzmann",
        "A stream passes a cylinder (D2Q9)",
        128,
        ("density",),
        "Nine distributions stream and collide in a few kernels.",
    ),
    Entry(
        "ising",
        "Magnetic domains just below the critical temperature",
        512,
        ("spins",),
        "Random numbers are NumPy's, so half of the time cannot fuse.",
    ),
    Entry(
        "ray_marching",
        "Rays step towards a field of spheres",
        600,
        ("t",),
        "Functions written in Python disappear: what they compute fuses.",
    ),
    Entry(
        "dithering",
        "Floyd-Steinberg dithering, pixel by pixel",
        800,
        ("picture",),
        "A loop that must run in order is still compiled, with Python's bits.",
        loops=True,
    ),
    Entry(
        "julia",
        "A Julia set, each point until it leaves",
        384,
        ("steps",),
        "A loop may stop early; a masked array statement never can.",
        loops=True,
    ),
)

ENTRIES = {entry.name: entry for entry in _ROWS}
