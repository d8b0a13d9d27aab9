"""What a choice costs its readers: each utility turns small tables of counts into one number, less is better.

The formulas take numbers only. Rows that are not published are suppressed and cost as much as a row can. A
*label* is a published value; its *leaves* are the raw values it covers, out of the `domain` of its column.
"""
