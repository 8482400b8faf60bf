"""The explorer: a local server, its page, and the same view in a notebook.

Open `_app.py` first: what the server holds; `_runs.py` has the runs behind a page,
`_worker.py` computes them in a process of its own, `_site.py` writes pages without one.
"""
