"""One file per verb: a click command named `command` that returns an `Outcome`."""
