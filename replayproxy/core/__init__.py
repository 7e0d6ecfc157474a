"""What is decided: values in, values out. No file, socket, clock or randomness is ever touched in this room."""
