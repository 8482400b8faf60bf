"""Everything the page offers by name: paper figures, failures, the story."""

import functools

from pushforward import studies
from pushforward.web import _gallery

PAPER = "geshkovski2023perspective"


@functools.cache
def all_presets() -> list[dict]:
    """Every preset: the studies' own, then the failures, then the story in order."""
    figures = [
        {
            "id": f"{study}-{preset.name}",
            "title": preset.title,
            "study": study,
            "reference": reference,
            "claim": preset.claim,
            "group": "figures",
            "state": dict(preset.state),
        }
        for study, reference, preset in studies.all_presets()
    ]
    figures.sort(key=lambda entry: entry["id"] != "perspective-sphere")
    common = {"study": "gallery", "reference": PAPER}
    failures = [{**common, "group": "failures", **f} for f in _gallery.FAILURES]
    story = [
        {**common, "id": f"story-{k}", "group": "story", "story": k, **step}
        for k, step in enumerate(_gallery.STORY, start=1)
    ]
    return figures + failures + story
