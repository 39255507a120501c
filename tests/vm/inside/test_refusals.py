"""What a real host refuses: too little memory to pin, no right to the device; and what is said then."""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import pytest

from gdviz.errors import RegistrationError, UnknownDeviceError, VerbsError
from gdviz.machine import Nic
from gdviz.rdma import Location
from gdviz.rdma.hardware import HardwareProvider
from tests.conformance import soft_roce

pytestmark = pytest.mark.vm

#: Prints what a call is refused with, as JSON.
_TRY = """
import json
from gdviz.errors import VerbsError
from gdviz.rdma import Location
from tests.conformance import soft_roce

provider = soft_roce.provider("a")
try:
    domain = provider.device("rxe0").alloc_pd()
    region = domain.register(provider.alloc(Location("host", "cpu0"), 2**20), "local_write")
    print(json.dumps(["registered", region.length, ""]))
except VerbsError as error:
    print(json.dumps([type(error).__name__, error.errno, str(error)]))
"""


def tried(*wrapper: str) -> list[object]:
    """Run the trial under a program that takes rights away."""
    answer = subprocess.run(
        [*wrapper, sys.executable, "-c", _TRY], capture_output=True, text=True, timeout=50
    )
    assert answer.returncode == 0, answer.stderr
    return list(json.loads(answer.stdout))


def test_memlock() -> None:
    # Root may pin what it likes unless it lacks the capability for it.
    less = ("setpriv", "--bounding-set", "-ipc_lock", "prlimit")
    assert tried(*less, "--memlock=8388608")[0] == "registered"
    kind, code, said = tried(*less, "--memlock=65536")
    assert (kind, code) == ("RegistrationError", errno.ENOMEM)
    assert "ulimit -l unlimited" in str(said)


def test_no_right_to_the_device() -> None:
    node = "/dev/infiniband/uverbs0"
    subprocess.run(["chmod", "000", node], check=True)
    try:
        kind, code, said = tried("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    finally:
        subprocess.run(["chmod", "600", node], check=True)
    assert kind == "VerbsError"
    assert code == errno.EACCES
    assert "/dev/infiniband" in str(said)


@pytest.mark.parametrize("binding", ["pyverbs", "ibverbs"])
def test_devices_and_ports_that_are_not_there(binding: str) -> None:
    with soft_roce.provider("a", bindings=(binding,)) as provider:
        with pytest.raises(UnknownDeviceError):
            provider.device("mlx5_0")
        parts = provider.machine.parts
        ghost = Nic("ghost", 1, "cpu0", None, "mlx5_9")
        object.__setattr__(parts, "nics", (*parts.nics, ghost))
        provider.machine.__dict__.pop("_by_id", None)
        with pytest.raises(VerbsError) as caught:
            provider.device("ghost")
        assert caught.value.errno in (errno.ENODEV, errno.EIO)


def test_what_it_says_of_itself() -> None:
    with soft_roce.provider("a") as provider:
        assert provider.name == "verbs (pyverbs)"
        assert provider.seen == ["rxe0"]
        assert not provider.simulated
        assert any("host memory stands in for GPU memory" in note for note in provider.notes)
        buffer = provider.alloc(Location("gpu", "gpu0"), 4096)
        assert buffer.stands_in
        assert "in place of" in repr(buffer)
        domain = provider.device("rxe0").alloc_pd()
        region = domain.register(buffer, "local_write")
        # Root is told where its pages are.
        assert region.translation.extents[0].page_address
        with pytest.raises(RegistrationError) as caught:
            domain.register(buffer, "remote_write")
        assert "local_write" in caught.value.remedy


def test_closed() -> None:
    provider: HardwareProvider = soft_roce.provider("a")
    provider.close()
    with pytest.raises(VerbsError, match="has been closed"):
        provider.alloc(Location("host", "cpu0"), 64)


def test_an_empty_entry_of_the_gid_table() -> None:
    with (
        HardwareProvider(soft_roce.machine("a"), gid_index=9) as provider,
        pytest.raises(VerbsError, match="GID table of rxe0 is empty"),
    ):
        provider.device("rxe0")
