"""The command line: parse, call the library, print, exit. Nothing is decided here."""
