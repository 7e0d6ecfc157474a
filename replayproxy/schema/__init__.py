"""JSON schemas of the files that people edit, for their editors; printed from the tables that the loaders check by."""
