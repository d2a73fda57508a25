# SPDX-License-Identifier: GPL-2.0
"""Shared by the checks in Python: run commands in a guest, and get the status and output of each."""

import re
import subprocess
import sys

import tap

# A directory with files added to the guest, or ""
overlay = ""

# Runs in the guest: print the name, status and output of each command.
ASK = 'ask() { name=$1; shift; "$@" >/tmp/out 2>/tmp/err </dev/null; echo "@ $name $?"; cat /tmp/out /tmp/err; }; '


def boot(options, *command):
    """OPTIONS: a string, or a list if one has a space."""
    options = options.split() if isinstance(options, str) else options
    added = ["--overlay", overlay] if overlay else []
    return subprocess.run([f"{tap.TOP}/scripts/guest/boot", *options, *added, "--", *command],
                          capture_output=True, check=False)


def ask(options, script):
    """{name: (status, output)} of a guest."""
    run = boot(options, "sh", "-c", ASK + script)
    if run.returncode not in (0, 1, 2):
        sys.stderr.buffer.write(run.stderr)
        raise RuntimeError(f"the guest exited with {run.returncode}; the message above names its log")
    answers = re.split(r"^@ (\S+) (\d+)\n", run.stdout.decode(errors="surrogateescape"), flags=re.M)[1:]
    return {name: (int(status), text) for name, status, text in zip(*[iter(answers)] * 3)}
