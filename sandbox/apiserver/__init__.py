"""A Kubernetes API server in one process, for the demo and the tests.

It answers as kube-apiserver 1.37 does where kubectl 1.32 and the operator look; it is no
replacement for one. `app.ApiServer` is the server without a network, `transport` calls it in
process, `http` serves it on loopback.
"""
