"""Facts about loops, never changes: which loops carry a value, which pairs may run as one."""
