"""The parts of bench/soak.py: world (what all share), worker, faults, checks, page."""
