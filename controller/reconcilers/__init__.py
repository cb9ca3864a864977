"""One reconciler a kind."""
