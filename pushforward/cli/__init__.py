"""The command line."""

from pushforward.cli._main import main as main
