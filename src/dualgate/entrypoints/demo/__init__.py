"""The demo: a bundled conversation of several weeks through the real pipeline, then told.

Rule: nothing here knows how the story ends. The conversations hold what was said and when; every
line of the page is computed from what the memory decided.
"""
