"""The explorer: a local server, its page, and the same view in a notebook.

Open `state/_state.py` first: what a page shows. `server` talks to it, `computing` makes
its runs in a process of its own, `_site.py` writes pages without a server.
"""
