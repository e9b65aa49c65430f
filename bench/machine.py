"""What the benchmarks ran on."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_info

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow")


def description() -> dict[str, str]:
    """Processor, memory, system, versions."""
    import numpy.linalg  # noqa: F401 -- so that its BLAS is loaded

    blas = {
        f"{info['internal_api']} {info['version']} ({info.get('architecture', '?')})"
        for info in threadpool_info()
        if info["user_api"] == "blas"
    }
    processor = _first("/proc/cpuinfo", "model name") or platform.processor()
    return {
        "processor": f"{processor}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "libraries": ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
        + f"; {', '.join(sorted(blas))}",
    }


def _first(path: str, key: str) -> str:
    """The first value of a key in one of the system's own files."""
    file = Path(path)
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")
