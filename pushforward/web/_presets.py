"""Presets: states with a name, a reference and a claim."""

from pushforward.web._state import State


def all_presets() -> list[dict]:
    """Every preset the page offers."""
    return [
        {
            "id": "sphere",
            "title": "64 tokens on the sphere",
            "study": "perspective",
            "reference": "geshkovski2023perspective",
            "claim": "Tokens gather in clusters that merge one by one.",
            "group": "figures",
            "state": State().differences(),
        }
    ]
