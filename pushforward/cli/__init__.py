"""The command line: a file per command; what they share is in `_options.py`.

Open `_main.py` first: the commands by name, and what an error or a stop by hand says.
`_simulate.py` is the command that most people type first.
"""

from pushforward.cli._main import main as main
