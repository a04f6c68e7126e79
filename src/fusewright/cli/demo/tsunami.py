"""A tsunami crosses an ocean basin: shallow-water waves over a charted sea floor.

An ordinary NumPy program: it knows nothing of Fusewright.  Run it with `python tsunami.py [steps]`.
"""

import os
import sys

import numpy as np

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1200
REFINE = 3  # cells of the simulation for each cell of the chart
GRAVITY = 9.81  # m/s2
SECONDS = 4.0  # one time step
FELT = 0.02  # m: the wave has arrived where the sea has moved this far
__results__ = ["eta", "peak", "arrival", "energy", "anomaly", "worst"]


def refine(coarse, factor):
    """Bilinear interpolation to a grid `factor` times as fine."""
    position = np.arange((coarse.shape[0] - 1) * factor + 1) / factor
    low = np.minimum(position.astype(np.int64), coarse.shape[0] - 2)
    weight = position - low
    rows = coarse[low] * (1 - weight)[:, None] + coarse[low + 1] * weight[:, None]
    return rows[:, low] * (1 - weight) + rows[:, low + 1] * weight


chart = np.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "seafloor.npz"))
depth = refine(np.asarray(chart["depth"], dtype=np.float64), REFINE)
spacing = float(chart["spacing"]) / REFINE
n = depth.shape[0]
sea = depth > 10.0

# Depth at the faces between cells; none where either side is land, so nothing flows.
deep_x = np.zeros((n, n + 1))
deep_y = np.zeros((n + 1, n))
deep_x[:, 1:-1] = np.where(sea[:, 1:] & sea[:, :-1], 0.5 * (depth[:, 1:] + depth[:, :-1]), 0.0)
deep_y[1:-1, :] = np.where(sea[1:, :] & sea[:-1, :], 0.5 * (depth[1:, :] + depth[:-1, :]), 0.0)

# A sponge along the open borders lets waves leave.
edge = np.minimum(np.arange(n), np.arange(n)[::-1]) / 40.0
ramp = 1.0 - 0.06 * np.clip(1.0 - edge, 0.0, 1.0) ** 2
sponge = ramp[:, None] * ramp[None, :]

# The earthquake lifts the sea along a fault and drops it beside it (metres).
y, x = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
across = (x - 0.20 - 0.05 * (y - 0.5)) / 0.025
along = np.exp(-(((y - 0.5) / 0.16) ** 2))
eta = np.where(sea, 3.0 * (1.0 - across) * np.exp(-across * across) * along, 0.0)

u = np.zeros((n, n + 1))
v = np.zeros((n + 1, n))
peak = np.abs(eta)
arrival = np.where(peak > FELT, 0.0, np.inf)
energy = []
pull = GRAVITY * SECONDS / spacing
push = SECONDS / spacing

for step in range(1, STEPS + 1):
    u[:, 1:-1] -= pull * (eta[:, 1:] - eta[:, :-1])
    v[1:-1, :] -= pull * (eta[1:, :] - eta[:-1, :])
    flow_x = deep_x * u
    flow_y = deep_y * v
    eta -= push * (flow_x[:, 1:] - flow_x[:, :-1] + flow_y[1:, :] - flow_y[:-1, :])
    eta *= sponge
    height = np.abs(eta)
    peak = np.maximum(peak, height)
    arrival = np.minimum(arrival, np.where(height > FELT, step * SECONDS, np.inf))
    if step % 50 == 0:
        potential = GRAVITY * np.sum(eta * eta)
        kinetic = np.sum(deep_x * u * u) + np.sum(deep_y * v * v)
        energy.append(float(0.5 * 1025.0 * spacing**2 * (potential + kinetic)))

# How unusual is each place?  Wave height against the mean and spread of its latitude.
mean = peak.mean(axis=1, keepdims=True)
anomaly = (peak - mean) / (peak.std(axis=1, keepdims=True) + 1e-9)
coast = sea & (depth < 400.0)
worst = float(np.max(np.where(coast, peak, 0.0)))
reached = float(np.mean(np.isfinite(arrival)))

minutes = STEPS * SECONDS / 60.0
print(
    f"{n} x {n} cells of {spacing / 1000:.0f} km, {STEPS} steps, {minutes:.0f} minutes of sea time"
)
print(f"energy {' '.join(f'{value / 1e15:.3f}' for value in energy)} PJ")
print(f"highest wave on the coast {worst:.2f} m, {reached:.0%} of the basin reached")
