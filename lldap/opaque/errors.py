from lldap.errors import Unsupported


class InvalidMessage(Unsupported):
    """The other side's message is none of the protocol: too short, or not a group element.

    Says which part is wrong and never quotes a byte of it. Either the server speaks a version
    of OPAQUE that this client does not know, or what answered is no lldap.
    """
