"""The JSON folder of lldap's bootstrap.sh: how it is read, and what it comes to."""
