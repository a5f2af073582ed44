"""dualgate: a long-term memory layer for conversational assistants."""
