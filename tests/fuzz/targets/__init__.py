"""One module for each thing that is attacked."""
