"""The command on a terminal, as a person sees it: with colours, a progress bar and a width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from tests.support.projects import COMMAND

OUR_SEQUENCES = re.compile(rb"\x1b\[[0-9;]*m|\x1b\[\?25[hl]|\x1b\[1A|\x1b\[2K")
"""What rich writes itself: colours, hiding the cursor, and going up to redraw the bar."""


def on_a_terminal(*arguments, program=COMMAND, columns=80, typed=b""):
    """The exit code, and all bytes that reached the terminal, of standard output and error.

    What is typed is there before the command asks for it.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [program, *map(os.fspath, arguments)]
    environment = os.environ | {"TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    os.write(ours, typed)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # how Linux says that nobody has the other end open any longer
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    return process.wait(), b"".join(pieces)


def lines_of(output):
    """The lines that a terminal got, without what rich writes itself."""
    plain = OUR_SEQUENCES.sub(b"", output).decode()
    return [line.rstrip("\r") for line in plain.split("\n")]
