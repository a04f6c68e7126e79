"""The pass that makes loop trees of plans: all decisions about loops are taken here."""
