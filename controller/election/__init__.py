"""Which replica works: leader election by Lease."""
