"""How much memory this process may use, where the platform has such a limit.

The limit is on private writable memory (``RLIMIT_DATA``). The address space (``RLIMIT_AS``) would
do as well, but half a GiB of it is the mapped code of libraries, which users do not count.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

try:
    import resource
except ImportError:  # Windows has no such limits
    HAS_LIMITS = False
else:
    HAS_LIMITS = True

GIB = 1 << 30


def limit(gib: float) -> None:
    """From now on, asking for more than this fails, here and in every child process."""
    if HAS_LIMITS:
        size = int(gib * GIB)
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def limited_to() -> float | None:
    """The limit in GiB, if there is one."""
    if not HAS_LIMITS:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return None if soft == resource.RLIM_INFINITY else soft / GIB


def prefer_as_oom_victim() -> None:
    """When the machine itself runs out, Linux ends this process before any other of ours."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


def exhausted(error: BaseException) -> bool:
    """Whether an error says that there was no more memory; torch and C++ say so in words."""
    words = ("can't allocate memory", "not enough memory", "std::bad_alloc")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(each in str(error) for each in words)
    )


def complaint() -> str:
    """What work did that ran out of memory, as part of a sentence."""
    gib = limited_to()
    return "ran out of memory" if gib is None else f"exceeded the {gib:g} GiB memory limit"
