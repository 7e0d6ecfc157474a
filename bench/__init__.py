"""Measure replayproxy beside its peers: `python -m bench`, from the repository's root. `bench/README.md` says how."""
