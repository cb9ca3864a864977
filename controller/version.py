"""The one place that says which release this is."""

VERSION = "0.1.0"
