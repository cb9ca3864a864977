"""`lldap-operator release`."""
