"""The command ``rolecall``."""

import os
import signal
import sys

if not __package__:
    # The command started itself again, by the path of this file. The package is where this file is,
    # whatever the current folder has. It comes last, so that nothing beside it hides a module of
    # Python's own.
    sys.path[:1] = []
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def again() -> "list[str]":
    """Return the words that start the command again."""
    return [sys.executable, os.path.abspath(__file__)] if sys.executable else []


def main() -> int:
    """Run the command that ``sys.argv`` names, and return its exit code."""
    from rolecall._rolecall import run

    # Python handles these signals for programs in Python. This one ends by them, as others do.
    for name in ("SIGINT", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    arguments = list(sys.argv)
    if os.path.basename(arguments[0]) == os.path.basename(__file__):
        arguments[0] = "rolecall"
    return run(arguments, again())


if __name__ == "__main__":
    sys.exit(main())
