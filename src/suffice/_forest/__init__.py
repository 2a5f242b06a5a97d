"""The forest: fitting it, its fitted state, and probabilities given some of the variables.

``fitting`` grows the forest and leaves a frozen ``Fitted``, which is handed to every question. ``projection`` computes
shares in projected cells by the compiled core; ``asked_rows`` holds the rows of a question with their outcomes.
"""
