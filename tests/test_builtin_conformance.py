"""The built-in pack keeps every promise that the kit asks of anybody's pack."""

from occamkit.testing import conformance

test_builtins = conformance("occamkit")
