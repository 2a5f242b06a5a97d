"""What pages are made of: panels, inputs, charts, grids, cards as components. No part imports a page or the state."""
