"""Questions about a table that are not a verdict: each counts it, fetches counts and asks a kernel."""
