"""The command ``suffice``."""
