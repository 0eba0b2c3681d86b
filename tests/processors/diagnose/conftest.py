import pytest

from processors.diagnose import FailureHandler


@pytest.fixture(scope="session")
def handler() -> FailureHandler:
    return FailureHandler()
