from occamkit.testing import conformance

test_conformance = conformance("bio")
