"""English training data: hand-written turns, templates, and what turns them into JSON Lines."""
