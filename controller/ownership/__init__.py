"""Whose an account of lldap is: the mark, the record, the claims."""
