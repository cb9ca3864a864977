"""Ways into the operator: `lldap-operator export` and `lldap-operator import-bootstrap`.

Both make `Content` (drafts of accounts, groups, attributes and edges), from a live lldap or from
the folder of lldap's bootstrap.sh, and the same code makes manifests of it. Nothing here writes
to lldap or to the API server.
"""
