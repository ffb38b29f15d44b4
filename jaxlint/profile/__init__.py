"""Profiles what JAX traces and compiles while a program runs, and explains what was compiled again.

`command` reads what is to be run, `run` runs it under the recorder in `child`, `records` are the lines that the
recorder writes, `differences` compares two calls, `summary` counts, `explain` names rules and findings, `text` and
`json` report.
"""
