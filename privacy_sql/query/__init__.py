"""Templates in, portable SQL out; the only room where SQL is rendered or parsed.

In: the name of a template and its arguments. Out: a `Query`. Read `template.py` first; `conditions.py` reads
`where:`, `portable.py` is the subset of SQL that means the same everywhere, `words.py` finds the words that
an engine must define, and `statements.py` records what ran.
"""
