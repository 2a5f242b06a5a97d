import os

import pytest
from hypothesis import settings

from suffice import _core

# Everywhere else each run draws new examples; in continuous integration a red run must be one that anybody can repeat.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(params=_core.kernel_names())
def kernels(request):
    """Run the test with every build of the hot loops that this processor can run."""
    _core.use_kernels(request.param)
    yield request.param
    _core.use_kernels(_core.kernel_names()[0])
