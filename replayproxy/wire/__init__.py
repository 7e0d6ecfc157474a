"""HTTP as octets, sans-io: octets and time in, events and octets out. No socket, no clock, no decision."""
