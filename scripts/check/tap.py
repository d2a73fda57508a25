# SPDX-License-Identifier: GPL-2.0
"""Shared by the checks in Python: paths, and functions that print TAP."""

import os
import subprocess
import sys

TOP = os.path.abspath(f"{os.path.dirname(__file__)}/../..")
cases = failed = 0


def result(good, name, why=""):
    """Print the result of a case, and up to 20 lines of WHY if it is not good."""
    global cases, failed
    cases += 1
    print(f"{'ok' if good else 'not ok'} {cases} - {name}", flush=True)
    if not good:
        failed += 1
        for line in str(why).splitlines()[:20]:
            print(f"# {line}")
    return bool(good)


def skip(name, why):
    result(True, f"{name} # SKIP {why}")


def plan():
    """Print the plan, and exit with status 1 if a case failed."""
    print(f"1..{cases}")
    sys.exit(failed > 0)


def build(script, *arguments):
    """Run scripts/build/SCRIPT, which brings its output up to date."""
    subprocess.run([f"{TOP}/scripts/build/{script}", *arguments], check=True, stdout=sys.stderr)
