"""What pages are made of: pieces, charts and grids."""
