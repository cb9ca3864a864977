"""From what informers tell to the keys that workers take."""
