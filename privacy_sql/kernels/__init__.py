"""The papers' mathematics: numbers in, numbers out."""
