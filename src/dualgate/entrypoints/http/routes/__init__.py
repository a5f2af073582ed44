"""The routes under /v1: one for each verb of Memory (spec §8), under the verb's own name."""
