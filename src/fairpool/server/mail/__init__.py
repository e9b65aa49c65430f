"""Mail when it is somebody's turn: noted with what it is about, written and sent by a worker."""
