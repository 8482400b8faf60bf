"""The command line: a file per command; what they share is in `_answers.py`.

Open `_main.py` first: the commands by name, and what an error or a stop by hand says.
`_spec.py` makes the experiment that the options of `simulate` and `explore` describe.
"""

from pushforward.cli._main import main as main
