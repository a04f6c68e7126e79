"""Shapely: shapes of arrays of coordinates."""

import numpy as np
import shapely
from shapely.geometry import LineString, MultiPoint, Point, Polygon

angle = np.linspace(0, 2 * np.pi, 700)
ring = np.stack([np.cos(angle), np.sin(angle)], 1)
print(
    round(Polygon(ring).area, 8),
    round(LineString(ring).length, 8),
    round(MultiPoint(ring).convex_hull.area, 8),
)
points = shapely.points(ring)
print(
    len(points),
    shapely.contains_xy(Polygon(ring), ring[:, 0] * 0.5, ring[:, 1] * 0.5).sum(),
    round(Point(ring[0]).distance(Point(ring[100])), 8),
)
print(np.asarray(LineString(ring).coords).sum().round(8), shapely.get_coordinates(points).shape)
