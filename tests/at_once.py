"""Threads that run at once, and change places after every few instructions."""

import sys
import threading
from collections.abc import Callable, Iterable


def at_once(works: Iterable[Callable[[], object]], interval: float) -> None:
    """Run each in a thread of its own; a thread has its turn for `interval` seconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    try:
        threads = [threading.Thread(target=work) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
