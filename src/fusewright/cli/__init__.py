"""The program a user starts: `fusewright run | demo | explain | bench | info | cache | doctor`."""
