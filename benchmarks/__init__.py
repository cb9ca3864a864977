"""How fast the operator is, beside a bare program that makes only the needed calls.

`python -m benchmarks --help`. Nothing here is part of the product. Every contestant is a process
of its own; the servers are a real API server and an lldap.
"""
