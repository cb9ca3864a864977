"""What every reconciler runs in."""
