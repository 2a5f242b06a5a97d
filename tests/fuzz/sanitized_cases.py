"""Run cases of the targets that reach the core, in this process: ``python -m fuzz.sanitized_cases N_CASES``.

Sanitizers reserve terabytes of addresses, so that the limit on memory of ``fuzz.worker`` cannot be set.
"""

from __future__ import annotations

import os
import sys

from fuzz.worker import run


def main() -> None:
    # Rows of saved files are read by polars, which cannot be loaded under the thread sanitizer.
    targets = ("forests",) if os.environ["SUFFICE_SANITIZED"] == "thread" else ("forests", "saved_files")
    for target in targets:
        counted = run(target, 1, int(sys.argv[1]))
        sys.stdout.write(f"{target}: {counted['cases']} cases, {counted['compared']} compared\n")


if __name__ == "__main__":
    main()
