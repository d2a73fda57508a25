# SPDX-License-Identifier: GPL-2.0
"""Shared by the checks that open pages: a headless browser that can reach this machine only."""

import shutil
import subprocess

import tap

# Containers do not allow the sandbox; the pages are our own, so it is not needed.
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader",
           "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--window-size=1280,800",
           "--enable-logging=stderr", "--virtual-time-budget=20000"]


def find():
    """Any Chromium; if there is none, Debian's smallest is installed."""
    names = ("chromium-headless-shell", "chromium", "google-chrome")
    found = [name for name in names if shutil.which(name)]
    if not found:
        tap.build("setup", "flamegraph")
    return (found or names)[0]


def browse(program, page, home, *options):
    """Open PAGE with a profile in the folder HOME. The last one of an option that occurs twice counts."""
    command = [program, *OPTIONS, f"--user-data-dir={home}/profile", *options, page]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=120)
    except subprocess.TimeoutExpired:
        # A page that shows a message waits for an answer.
        tap.result(False, "the browser ends", "it did not end in 120 s: open the page in a browser to see its message")
        return tap.plan()
