"""`lldap-operator doctor`."""
