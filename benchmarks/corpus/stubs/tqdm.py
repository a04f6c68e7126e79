"""A progress bar that shows nothing."""

import sys


class tqdm:
    """Passes on the elements of `iterable`."""

    def __init__(self, iterable=(), **named):
        self.iterable = iterable

    def __iter__(self):
        return iter(self.iterable)

    def __len__(self):
        return len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __getattr__(self, name):
        return lambda *values, **named: None

    @staticmethod
    def write(text, **named):
        print(text)


def trange(*limits, **named):
    return tqdm(range(*limits))


tqdm_notebook = tqdm
sys.modules["tqdm.auto"] = sys.modules["tqdm.notebook"] = sys.modules[__name__]
__path__ = []
