"""What the page is built from: its controls and diagrams, as declared in Python.

python -m pushforward.web.state._declared web/page/src/declared.json
"""

import dataclasses
import json
import pathlib
import sys

from pushforward.experiments import CONTROLS
from pushforward.web import _caps
from pushforward.web.computing import _phase
from pushforward.web.state._presets import REFERENCES, SENTENCE, STORY, reference


def declarations() -> dict:
    """Controls, diagrams and limits, without what is empty."""
    controls = []
    for control in CONTROLS.values():
        row = dataclasses.asdict(control)
        row["choices"] = [_filled(choice) for choice in row["choices"]]
        controls.append({k: v for k, v in row.items() if v not in (None, [], "")})
    statistics = [
        {"value": key, "label": label, "share": share}
        for key, (label, _, share) in _phase.STATISTICS.items()
    ]
    kinds = [{"value": key, "label": label} for key, label in _phase.KINDS.items()]
    return {
        "controls": controls,
        "phase": {"kinds": kinds, "statistics": statistics},
        "eigenvalues": _caps.MOST_EIGENVALUES,
        "story": list(STORY),
        "references": {key: reference(key) for key in REFERENCES},
        "sentence": SENTENCE,
    }


def _filled(choice: dict) -> dict:
    return {key: value for key, value in choice.items() if value != ""}


def text() -> str:
    """The file that the page imports."""
    return json.dumps(declarations(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(text(), encoding="utf-8")
