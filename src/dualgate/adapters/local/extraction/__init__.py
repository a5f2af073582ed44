"""The local extractor: structured, calibrated candidates without a key or a network [W4, W5].

Read in this order: extractor (the steps), voice (whose words), clauses (how they are cut), cues and
features (what the model sees), judging (how probabilities become statements), wording, promises.
"""

from dualgate.adapters.local.extraction.extractor import LocalExtractor

__all__ = ["LocalExtractor"]
