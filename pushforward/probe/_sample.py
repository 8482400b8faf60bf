"""A page of English to look at models with, written for this library."""

SAMPLE = """\
The river rises in the hills above the old town, where three springs meet under a
stand of alder trees. For the first few miles it is no wider than a cart, and children
cross it on stones. Farmers have argued about its water for as long as anyone can
remember. In dry years the upper villages close their gates early and the lower
villages send letters of complaint; in wet years nobody writes to anybody.

Below the town the valley opens and the river slows. Here the water turns brown and
carries clay, which the potters used to dig from the banks every autumn. Their kilns
are gone, but the name of the street remains, and so does the habit of painting doors
the same dark red that once came out of the fire. A small museum keeps the last wheel.
Its keeper is a retired engineer who measures the height of the river each morning and
writes it in a green notebook. He has not missed a day in nineteen years.

What he has learned from the numbers is modest. Floods come when snow melts quickly,
not when it rains for a long time. The river remembers a wet winter until June. After a
dry summer the first storm hardly moves the gauge, because the ground drinks the water
before it can run. He once tried to predict the height one week ahead and was right
about as often as his neighbor, who looks at the swallows.

Still, people come to ask him. The baker wants to know whether to move her flour from
the cellar. The school wants to know whether the boats can go out. He opens the
notebook, finds the years that look like this one, and tells them what the river did
then. He never says what it will do now.
"""
