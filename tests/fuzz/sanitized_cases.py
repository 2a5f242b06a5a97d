"""Run cases of the targets that reach the core, in this process: ``python -m fuzz.sanitized_cases N_CASES``.

Sanitizers reserve terabytes of addresses, so that the limit on memory of ``fuzz.worker`` cannot be set.
"""

from __future__ import annotations

import sys

from fuzz.worker import run

TARGETS = ("forests", "saved_files")

if __name__ == "__main__":
    for target in TARGETS:
        counted = run(target, 1, int(sys.argv[1]))
        sys.stdout.write(f"{target}: {counted['cases']} cases, {counted['compared']} compared\n")
