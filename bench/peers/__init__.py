"""How each peer is called; every module needs the peer's own environment."""
