"""In a notebook runs, tokens and pictures show themselves."""

import equinox as eqx
import jax
import matplotlib
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.plot.style import new_figure

PNG = b"\x89PNG"


def run(d=3, n=4, **options):
    mu = pf.Particles.uniform(pf.Sphere(d), n, key=jax.random.key(0))
    return pf.flow(pf.Attention(2.0), mu, 1.0, save=3, **options)


def test_a_run_and_its_tokens_show_themselves():
    trajectory = run()
    assert trajectory._repr_png_().startswith(PNG)
    assert trajectory.final._repr_png_().startswith(PNG)
    plane = pf.Particles(pf.Euclidean(2), [[0.0, 1.0], [1.0, 0.0]])
    assert plane._repr_png_().startswith(PNG)


def test_what_has_no_picture_leaves_its_line_of_text():
    trajectory = run()
    batch = eqx.tree_at(
        lambda mu: (mu.points, mu.log_weights),
        trajectory.final,
        (trajectory.points, trajectory.measures.log_weights),
    )
    assert batch._repr_png_() is None
    assert pf.Density.uniform(pf.Circle(), 8)._repr_png_() is None


def test_a_picture_shows_itself_and_has_no_window(monkeypatch):
    figure = new_figure(2.0, 1.0)
    figure.add_subplot().plot(np.arange(3))
    before = dict(matplotlib.rcParams)
    assert figure._repr_png_().startswith(PNG)
    assert dict(matplotlib.rcParams) == before
    monkeypatch.delitem(__import__("sys").modules, "IPython.display", raising=False)
    with pytest.raises(InputError, match="no window"):
        figure.show()


class Swirl(pf.fields.AbstractField):
    """Attention, then a turn."""

    inner: pf.Attention

    def drive(self, t, mu):
        return self.inner.drive(t, mu)


def test_a_field_of_ones_own_cites_what_it_builds_on():
    cited = pf.cite(Swirl(pf.Attention(2.0)))
    assert pf.cite(pf.Attention(2.0)) in cited and "geshkovski2023perspective" in cited


def test_reports_show_themselves_as_tables():
    pytest.importorskip("ot")
    from pushforward.statistics import npmle

    fit = npmle(np.array([-3.0, -2.9, 3.0, 3.1]))
    text = fit._repr_html_()
    assert text.count("<tr>") == 1 + len(fit.atoms) and "certified gap" in text
    assert "weight 0" not in text
    rows = [(k, 0.5) for k in range(23)]
    long = pf.plot.runs._summary.report_table("a < b", ["k", "share"], rows)
    assert "a &lt; b" in long and long.count("<tr>") == 21 and "and 3 more" in long
