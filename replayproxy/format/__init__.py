"""Cassette files as text: YAML in VCR.py's form to the model and back. The only room that knows YAML.

`load` and `dump` are inverse to each other; docs/cassette-format.md is the law that they keep.
"""

from replayproxy.format.loading import Read, load, read
from replayproxy.format.plain import from_json, to_json
from replayproxy.format.writing import Dumped, blobs_of, digest_of, dump

__all__ = ["Dumped", "Read", "blobs_of", "digest_of", "dump", "from_json", "load", "read", "to_json"]
