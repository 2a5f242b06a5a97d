"""The experiments of the paper, one file per table or figure: ``python -m experiments [--quick] [NAME ...]``."""
