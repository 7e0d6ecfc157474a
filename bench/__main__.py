"""`python -m bench`: see `bench/README.md`."""

import sys

from bench.command import main

sys.exit(main(sys.argv[1:]))
