"""So that `python -m fusewright` is the same program as `fusewright`."""

import sys

from fusewright.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
