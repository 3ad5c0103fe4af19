"""A memory of the few things that were made last, for what several attacks on a setting share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Recent(Generic[Thing]):
    """Things by key; the one that was asked for longest ago is forgotten first.

    What a key names must be made the same way whenever it is made: a memory saves time only.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._things: OrderedDict[Hashable, Thing] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        if key in self._things:
            self._things.move_to_end(key)
            return self._things[key]
        thing = make()
        self._things[key] = thing
        while len(self._things) > self._most:
            self._things.popitem(last=False)
        return thing

    def clear(self) -> None:
        self._things.clear()
