"""`python bench/stability`: see run.py."""

from __future__ import annotations

from run import main

if __name__ == "__main__":
    main()
