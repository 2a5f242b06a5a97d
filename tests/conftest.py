import pytest

from suffice import _core


@pytest.fixture(params=_core.kernel_names())
def kernels(request):
    """Run the test with every build of the hot loops that this processor can run."""
    _core.use_kernels(request.param)
    yield request.param
    _core.use_kernels(_core.kernel_names()[0])
