"""The one intermediate representation: dtypes, ops, array graph, scalar expressions, loop nests."""
