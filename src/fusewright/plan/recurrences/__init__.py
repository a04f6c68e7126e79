"""From a graph of recurrence relations to ordered statements: which relation, in which order."""
