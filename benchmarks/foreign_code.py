"""Whether plugins are imported in a player first, to see that this ends well.

The commands switch it on: a plugin that hangs or exits at import is then an error in one line.
Workers leave it off, since whoever started them has looked already, and watches them.
"""

from __future__ import annotations

probing = False
# A plugin that takes longer to import hangs.
SECONDS = 60.0
