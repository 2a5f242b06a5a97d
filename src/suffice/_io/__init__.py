"""Files: tables, saved explainers, the result table, and batches of rows for other engines."""
