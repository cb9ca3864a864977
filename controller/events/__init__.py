"""Events of Kubernetes."""
