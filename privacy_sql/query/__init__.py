"""Templates in, portable SQL out; the only room where SQL is rendered or parsed.

In: the name of a template and what it is filled with. Out: a `Query`. Read `template.py` first;
`conditions.py` reads `where:`, `words.py` finds the words that an engine has to know, `statements.py` writes
down what ran.
"""
