"""The contract's assertions explain themselves as those of tests do."""

import pytest

pytest.register_assert_rewrite("tests.metrics.contract")
