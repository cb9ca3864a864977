"""One file for each kind of question; each gives rows of results."""
