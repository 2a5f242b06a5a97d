"""What pages are made of: panels and inputs, charts, grids, drawn answers. No part imports a page or the state."""
