"""The control API of a run, as `serving.Control`."""
