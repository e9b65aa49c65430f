"""Run the command without pictures, and print how much memory it took at most, in KiB.

Run as a program, `python -m tests.support.peak_memory ARGUMENT...`: the peak is a whole process's.
"""

import resource
import sys

from fairpool.cli import entry
from tests.support.pictures import without_pictures


def main(arguments):
    without_pictures()
    sys.argv = ["fairpool", *arguments]
    try:
        entry()
    finally:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    main(sys.argv[1:])
