"""Templates in, portable SQL out; the only room where SQL is rendered or parsed. Read `template.py` first."""
