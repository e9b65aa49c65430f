"""What is done for a collaboration in the background: the queue, those who work it off, files."""
