"""When things run: a value that nobody asks for costs nothing.

`float()`, `bool()`, printing, `np.asarray`, `fw.evaluate` and leaving for another library ask for
values.  Shapes and types are known without.
"""

import fusewright as fw
import fusewright.numpy as np

a = np.arange(1000.0)
doubled = a * 2
huge = np.exp(doubled) / np.log(a + 2)  # held, never asked for: never computed

print(doubled.shape, doubled.dtype)  # nothing has run yet
assert "would run" in str(fw.explain(doubled))

total = float(doubled.sum())  # asked for: runs
print("total", total)
assert total == 999_000.0

# An error is raised at the line that made it, not when the value is asked for.
try:
    sums = a + np.arange(999.0)
except ValueError as error:
    print("refused at once:", str(error).splitlines()[0])

# Several values in one go: one kernel reads `a` once for both.
low, high = fw.evaluate((a - 500).min(), (a - 500).max())
print("between", low, "and", high)
