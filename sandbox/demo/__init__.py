"""`python -m sandbox.demo`: from nothing to a person who can log in, in a minute, on loopback.

An API server, an lldap and the operator, as a process of its own with the rights that deploy/
gives it; the examples of the docs are applied, and one user's password is proved by a login. All
of it lives in a temporary folder and is gone at the end, however that comes.
"""
