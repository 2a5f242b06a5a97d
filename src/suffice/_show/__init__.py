"""What people look at: pictures of explanations as plain values, and the renderers that draw them."""
