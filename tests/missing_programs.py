"""Why tests are skipped that need a program which pip does not install. The end of a run repeats these reasons."""

NO_CHROMIUM = "There is no Chromium: apt-get install chromium, or .venv/bin/playwright install chromium"
NO_ARM_TOOLS = "There is no compiler and emulator for ARM64: apt-get install g++-aarch64-linux-gnu qemu-user-static"


def lines_about(reasons):
    """How many tests each missing program left out, from the reasons of all skipped tests."""
    counts = {program: sum(program in reason for reason in reasons) for program in (NO_CHROMIUM, NO_ARM_TOOLS)}
    return [f"Skipped tests: {n_skipped}. {program}" for program, n_skipped in counts.items() if n_skipped]
