"""``python -m orfeon`` is the command ``orfeon``."""

from orfeon.workbench.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
