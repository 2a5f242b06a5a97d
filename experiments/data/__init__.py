"""The data of the paper's experiments: synthetic data with their truth, and loaders of published tables."""
