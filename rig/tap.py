# SPDX-License-Identifier: GPL-2.0
"""Shared by the checks in Python: where files are, and functions that print TAP."""

import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
cases = failed = 0


def result(good, name, why=""):
    """One case; WHY is shown, up to 20 lines of it, if it is not good."""
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
    """At the end: the script exits with 1 if a case failed."""
    print(f"1..{cases}")
    sys.exit(failed > 0)


def build(script, *arguments):
    """Have what rig/build/SCRIPT makes, and have it up to date."""
    subprocess.run([f"{TOP}/rig/build/{script}", *arguments], check=True, stdout=sys.stderr)
