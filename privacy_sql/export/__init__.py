"""SQL without Python: for a DBA to paste, and for dbt to run every night.

In: a table and a choice. Out: statements, or the files of a dbt model. Read `standalone.py` first, then
`dbt.py`.
"""
