"""Compile whatever is computed, unless a test says otherwise: most work of tests is so small that
it would be interpreted.  What users have is tested by the evaluator `interpreted` and by programs
run as they run them.
"""

from fusewright.base.options import set_defaults

set_defaults(interpret=False)
