"""What the command line needs of the explorer: its server, its pages, its links."""

from pushforward.web._site import DIAGRAMS as DIAGRAMS
from pushforward.web._site import write_page as write_page
from pushforward.web._site import write_site as write_site
from pushforward.web.server._serve import Server as Server
from pushforward.web.state._presets import all_presets as all_presets
from pushforward.web.state._state import unpacked as unpacked
