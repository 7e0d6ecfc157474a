"""What a client of a replay is answered, and when; whichever host carries the octets (`engine`, `mitm`)."""
