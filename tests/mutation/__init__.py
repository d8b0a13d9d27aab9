"""Plausible bugs, planted one at a time; the tests named beside each must notice it.

`python -m tests.mutation` plants every bug in a copy of the project and runs its tests there;
`python -m tests.mutation NAME...` plants some. A bug that is not caught is an error, and so is one that no
longer finds its place: tests/test_mutation.py looks for that on every build.
"""
