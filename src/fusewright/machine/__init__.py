"""Facts about hardware: one frozen record (`record`), found on this machine (`detect`), refined by
`fusewright bench --calibrate` and kept (`stored`).

Whatever depends on the machine is read from the record.  What decides bits is not: it stands beside
the contract it serves, and its modules do not import this package.
"""
