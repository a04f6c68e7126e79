from numpy import abs as magnitude
from numpy import hanning
from numpy.fft import rfft


def spectrum(a):
    """Power by frequency, with a window."""
    return magnitude(rfft(a * hanning(a.size))) ** 2
