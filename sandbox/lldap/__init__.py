"""An lldap 0.6 that is embedded in tests and in the demo.

- `server.Lldap` answers calls as the recordings of a real one say, without sockets or threads;
  its database can be copied, restored, begun anew and changed behind everybody's back.
- `transport.InProcessTransport` and `http.LldapServer` are the ways to it: an
  `lldap.transport.Transport` and a real HTTP server. They log all calls and go through the hooks
  that put `faults` on them.

What it leaves out: the LDAP port, the web front end, the end of an OPAQUE login, password resets
and the mutations of LDAP object classes.
"""
