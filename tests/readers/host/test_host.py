"""Readers of what a host's operating system says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from host_samples import LSMOD, NOTES, PROC_MODULES

from gdviz.readers import open_case, open_text
from gdviz.readers.host import (
    Environment,
    HostNotes,
    Kernel,
    KernelCommandLine,
    KernelConfig,
    KernelModules,
    Limits,
    NvidiaDriver,
    Product,
    command_line,
    environment,
    kernel,
    kernel_config,
    limits,
    module_info,
    modules,
    notes,
    nvidia_driver,
    product,
)
from gdviz.readers.reading import Reading


def facts_of(text: str, kind: str) -> object:
    """The facts of one kind that a text gives when it is opened like a file."""
    found = [reading for reading in open_text(text).readings if reading.kind == kind]
    assert len(found) == 1, [reading.kind for reading in open_text(text).readings]
    return found[0].facts


def test_lsmod() -> None:
    facts = facts_of(LSMOD, "lsmod")
    assert isinstance(facts, KernelModules)
    assert facts.whole
    peermem = facts.find("nvidia-peermem")
    assert peermem is not None
    assert (peermem.size_bytes, peermem.users, peermem.line) == (16384, 0, 2)
    core = facts.find("ib_core")
    assert core is not None
    assert core.used_by == ("nvidia_peermem", "mlx5_ib")
    assert facts.find("gdrdrv") is None


def test_lsmod_through_grep_is_not_whole() -> None:
    rows = "".join(LSMOD.splitlines(keepends=True)[1:])
    for text in (rows, "$ lsmod | grep -e nvidia -e ib_core\n" + rows):
        facts = modules.read(text).facts
        assert isinstance(facts, KernelModules)
        assert not facts.whole
        assert len(facts.loaded) == 3


def test_proc_modules() -> None:
    facts = facts_of(PROC_MODULES, "lsmod")
    assert isinstance(facts, KernelModules)
    assert [module.name for module in facts.loaded] == ["nvidia_peermem", "mlx5_ib"]


def test_a_torn_table_is_truncated() -> None:
    for tail in ("mlx5_co", "mlx5_core ", "mlx5_core            19783"):
        assert modules.read(LSMOD + tail).truncated, tail
    assert not modules.read(LSMOD).truncated


@pytest.mark.parametrize(
    "tail",
    ["Any idea?", "Any idea?\n", "\nWhat do we lack?\n", "\nThanks", "Thanks\n", "$ uname -r\n6.1.0-9-amd64"],
)
def test_what_stands_below_a_table_is_no_torn_row(tail: str) -> None:
    reading = modules.read(LSMOD + tail)
    assert not reading.truncated
    assert isinstance(reading.facts, KernelModules)
    assert reading.facts.whole


@pytest.mark.parametrize("text", ["word 1 2 3 4\n", "1 2 3\n", "", "Module of size\n", "a 1\n"])
def test_what_is_no_lsmod(text: str) -> None:
    assert not modules.looks_like(text)


@pytest.mark.parametrize(
    ("text", "release", "version", "line"),
    [
        ("Linux a 5.15.0-99-generic #1-Ubuntu SMP x86_64 GNU/Linux\n", "5.15.0-99-generic", (5, 15, 0), 1),
        ("Linux version 6.6.52-1.el9.x86_64 (mock@b) (gcc)\n", "6.6.52-1.el9.x86_64", (6, 6, 52), 1),
        ("5.4.0-1-generic\n", "5.4.0-1-generic", (5, 4, 0), 1),
        ("$ uname -r\n6.12.1\n", "6.12.1", (6, 12, 1), 2),
        ("ofed: 5\nuname -r: 5.4.0-167-generic\n", "5.4.0-167-generic", (5, 4, 0), 2),
        ("kernel: 6.1.0-9-amd64 (Debian)\n", "6.1.0-9-amd64", (6, 1, 0), 1),
    ],
)
def test_kernels(text: str, release: str, version: tuple[int, ...], line: int) -> None:
    facts = facts_of(text, "uname")
    assert isinstance(facts, Kernel)
    assert (facts.release, facts.version, facts.line) == (release, version, line)


def test_uname_gives_host_and_machine() -> None:
    facts = kernel.read("Linux node-a 6.11.0-1016-nvidia #16 SMP aarch64 aarch64 GNU/Linux").facts
    assert isinstance(facts, Kernel)
    assert (facts.host, facts.machine) == ("node-a", "aarch64")


@pytest.mark.parametrize("text", ["550.54.15\n", "2.27.7\n", "Linux is nice\n", "kernel panic\n", "12\n"])
def test_what_is_no_kernel(text: str) -> None:
    assert not kernel.looks_like(text)


def test_command_lines() -> None:
    text = "BOOT_IMAGE=/vmlinuz-5 root=UUID=1 ro intel_iommu=on iommu=pt quiet\n"
    for place in (text, "$ cat /proc/cmdline\n" + text, "cmdline: " + text):
        facts = facts_of(place, "cmdline")
        assert isinstance(facts, KernelCommandLine)
        assert facts.running
        assert (facts.get("iommu"), facts.get("quiet"), facts.get("amd_iommu")) == ("pt", "", None)


def test_grub_is_what_will_be() -> None:
    text = 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX="iommu=pt"\n'
    facts = command_line.read(text).facts
    assert isinstance(facts, KernelCommandLine)
    assert not facts.running
    assert facts.arguments == ("quiet", "iommu=pt")


def test_kernel_config() -> None:
    text = "# Linux/x86 6.12 Kernel Configuration\n# CONFIG_PCI_P2PDMA is not set\nCONFIG_MLX5_CORE=m\n"
    facts = facts_of(text, "kernel_config")
    assert isinstance(facts, KernelConfig)
    off, module = facts.get("CONFIG_PCI_P2PDMA"), facts.get("CONFIG_MLX5_CORE")
    assert off is not None
    assert module is not None
    assert (off.value, off.line, module.value, module.line) == ("n", 2, "m", 3)
    assert not facts.whole, "an excerpt does not say that what is missing is not set"
    many = "".join(f"CONFIG_A{number}=y\n" for number in range(600))
    whole = kernel_config.read(many).facts
    assert isinstance(whole, KernelConfig)
    assert whole.whole


def test_kernel_config_through_grep() -> None:
    facts = kernel_config.read('/boot/config-5.15.0-99-generic:CONFIG_LOCALVERSION="-x"\n').facts
    assert isinstance(facts, KernelConfig)
    option = facts.get("CONFIG_LOCALVERSION")
    assert option is not None
    assert option.value == "-x"


@pytest.mark.parametrize(
    ("text", "memlock", "line"),
    [
        ("$ ulimit -l\nunlimited\n", None, 2),
        ("$ ulimit -l\n64\n", 65536, 2),
        ("max locked memory           (kbytes, -l) 8192\n", 8192 * 1024, 1),
        ("Max locked memory         65536                65536                bytes     \n", 65536, 1),
        ("MEMLOCK    max locked-in-memory address space      65536     65536 bytes\n", 65536, 1),
        ("ulimit -l: unlimited\n", None, 1),
    ],
)
def test_limits(text: str, memlock: int | None, line: int) -> None:
    facts = facts_of(text, "ulimit")
    assert isinstance(facts, Limits)
    assert (facts.memlock_bytes, facts.line) == (memlock, line)


def test_limit_of_a_named_host_and_the_lowest_of_several() -> None:
    text = "$ srun -w node-b bash -c 'ulimit -a'\nmax locked memory (kbytes, -l) 8192\n"
    facts = limits.read(text + "$ ulimit -l\nunlimited\n").facts
    assert isinstance(facts, Limits)
    assert (facts.memlock_bytes, facts.hosts) == (8192 * 1024, ("node-b",))
    assert [other.memlock_bytes for other in facts.others] == [None]


def test_setting_a_limit_is_no_answer() -> None:
    assert not limits.looks_like("$ ulimit -l unlimited\n")


def test_a_lone_word_needs_the_name(tmp_path: Path) -> None:
    for name, read in (("ulimit-l.txt", True), ("notes.txt", False)):
        (tmp_path / name).write_text("unlimited\n")
        case = open_case(tmp_path / name)
        assert bool(case.nodes) is read
    (reading,) = open_case(tmp_path / "ulimit-l.txt").readings
    assert isinstance(reading.facts, Limits)
    assert reading.facts.memlock_bytes is None


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("NCCL_IB_HCA=mlx5_0\n", "NCCL_IB_HCA", "mlx5_0"),
        ('export NCCL_IB_HCA="mlx5_0,mlx5_1"\n', "NCCL_IB_HCA", "mlx5_0,mlx5_1"),
        ('declare -x UCX_TLS="rc,sm"\n', "UCX_TLS", "rc,sm"),
        ("ENV NCCL_DEBUG INFO\n", "NCCL_DEBUG", "INFO"),
        ('        - name: NCCL_DEBUG\n          value: "WARN"\n', "NCCL_DEBUG", "WARN"),
        ("    environment:\n      NCCL_DEBUG: INFO\n", "NCCL_DEBUG", "INFO"),
        ("$ mpirun -np 2 -x NCCL_NET_GDR_LEVEL=SYS ./a\n", "NCCL_NET_GDR_LEVEL", "SYS"),
        ('  "Env": [\n    "NCCL_DEBUG=INFO",\n', "NCCL_DEBUG", "INFO"),
        ("NCCL_DEBUG=INFO  # for now\n", "NCCL_DEBUG", "INFO"),
    ],
)
def test_environments(text: str, name: str, value: str) -> None:
    facts = facts_of(text, "environment")
    assert isinstance(facts, Environment)
    setting = facts.get(name)
    assert setting is not None
    assert setting.value == value


@pytest.mark.parametrize(
    "text",
    [
        "mpirun -np 4 \\\n  -x NCCL_IB_HCA=mlx5_9 \\\n  -x UCX_TLS=rc \\\n  ./a\n",
        "$ docker run --gpus all \\\n -e NCCL_IB_HCA=mlx5_9 \\\n --env UCX_TLS=rc image\n",
        "  -x NCCL_IB_HCA=mlx5_9 \\\n  -x UCX_TLS=rc\n",
        "FROM a\nENV FOO=1 \\\n    NCCL_IB_HCA=mlx5_9 \\\n# NCCL_IB_HCA=mlx5_8\n    UCX_TLS=rc\nRUN make\n",
        'ENV NCCL_IB_HCA="mlx5_9" UCX_TLS=rc\n',
        "export NCCL_IB_HCA=mlx5_9 \\\n  UCX_TLS='rc'\n",
        "import os\nos.environ[\"NCCL_IB_HCA\"] = \"mlx5_9\"\nos.environ.setdefault('UCX_TLS', 'rc')\n",
        "    environ['NCCL_IB_HCA']='mlx5_9'  # ours\n#os.environ['UCX_TLS'] = 'tcp'\nos.environ[ \"UCX_TLS\" ] = 'rc'\n",
    ],
)
def test_variables_over_several_lines_and_in_python(text: str) -> None:
    assert environment.looks_like(text)
    facts = environment.read(text).facts
    assert isinstance(facts, Environment)
    assert [(found.name, found.value) for found in facts.settings if found.name != "FOO"] == [
        ("NCCL_IB_HCA", "mlx5_9"),
        ("UCX_TLS", "rc"),
    ]


@pytest.mark.parametrize(
    "unset",
    [
        "unset NCCL_IB_HCA",
        "$ unset UCX_TLS NCCL_IB_HCA",
        "unset NCCL_IB_HCA; ./run",
        "os.environ.pop('NCCL_IB_HCA', None)",
        'del os.environ["NCCL_IB_HCA"]',
    ],
)
def test_a_variable_that_was_taken_away_again(unset: str) -> None:
    text = f"export NCCL_IB_HCA=mlx5_9\nexport NCCL_DEBUG=INFO\n{unset}\n"
    facts = environment.read(text).facts
    assert isinstance(facts, Environment)
    assert facts.get("NCCL_IB_HCA") is None
    assert facts.get("NCCL_DEBUG") is not None
    facts = environment.read(text + "export NCCL_IB_HCA=mlx5_7\n").facts
    assert isinstance(facts, Environment)
    again = facts.get("NCCL_IB_HCA")
    assert again is not None
    assert again.value == "mlx5_7"
    assert not environment.looks_like(unset)


def test_the_last_setting_counts_and_a_shell_gives_all() -> None:
    facts = environment.read("PATH=/bin\nHOME=/root\nNCCL_DEBUG=WARN\nNCCL_DEBUG=INFO\n").facts
    assert isinstance(facts, Environment)
    last = facts.get("NCCL_DEBUG")
    assert last is not None
    assert (last.value, last.line, len(facts.settings)) == ("INFO", 4, 4)


@pytest.mark.parametrize(
    "text", ["CONFIG_A=y\n", "# NCCL_DEBUG=INFO\n", "a=b\n", "NCCL_DEBUG set by environment to INFO\n"]
)
def test_what_is_no_environment(text: str) -> None:
    assert not environment.looks_like(text)


@pytest.mark.parametrize(
    ("text", "version", "is_open"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.1.2  Tue\n", "550.1.2", False),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.1  Release\n", "570.1", True),
        ("[1.000000] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.1.2  R\n", "570.1.2", True),
        ("driver: 535.1.2 (closed)\n", "535.1.2", False),
        ("| NVIDIA-SMI 550.1.2      Driver Version: 550.1.2    CUDA Version: 12.4 |\n", "550.1.2", None),
        ("$ modinfo -F license nvidia\nNVIDIA\n", "", False),
    ],
)
def test_drivers(text: str, version: str, is_open: bool | None) -> None:
    facts = nvidia_driver.read(text).facts
    assert isinstance(facts, NvidiaDriver)
    assert (facts.version, facts.is_open) == (version, is_open)


def test_modinfo() -> None:
    text = "filename:       /lib/modules/5/nvidia-peermem.ko.zst\nversion: 550\n"
    text += "license: Linux-OpenIB\ndepends: nvidia,ib_core\n"
    facts = module_info.read(text + "\n" + text.replace("peermem", "fs")).facts
    assert isinstance(facts, module_info.ModuleInfos)
    assert [module.name for module in facts.modules] == ["nvidia_peermem", "nvidia_fs"]
    assert facts.modules[0].depends == ("nvidia", "ib_core")
    assert facts.modules[1].line_of("license") == 8


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("instance-type: g6e.24xlarge\n", "g6e.24xlarge"),
        ("System Information\n\tManufacturer: NVIDIA\n\tProduct Name: DGXH100\n", "DGXH100"),
        ("$ cat /sys/class/dmi/id/product_name\nNVIDIA DGX Spark\n", "NVIDIA DGX Spark"),
        ("We rent two p4d.24xlarge\n", "p4d.24xlarge"),
    ],
)
def test_products(text: str, name: str) -> None:
    facts = product.read(text).facts
    assert isinstance(facts, Product)
    assert facts.name == name


def test_a_gpus_product_is_not_the_hosts() -> None:
    assert not product.looks_like("    Product Name                          : Tesla T4\n")


def test_notes() -> None:
    reading = notes.read(NOTES, source="env.txt")
    facts = reading.facts
    assert isinstance(facts, HostNotes)
    found = {(statement.kind, statement.subject, statement.value) for statement in facts.statements}
    assert found == {
        ("peer-memory-path", "/sys/kernel/mm/memory_peers", "missing"),
        ("peer-memory-path", "/sys/module/nvidia_peermem/version", "570.11.22"),
        ("module-licence", "nvidia", "Dual MIT/GPL"),
        ("modprobe-failed", "nvidia_peermem", "Invalid argument"),
        ("ofed-version", "", "MLNX_OFED_LINUX-23.10-9.9.9.9"),
        ("cuda-attribute", "DMA_BUF_SUPPORTED", "0"),
        ("gpu-name", "0", "NVIDIA H100 80GB HBM3"),
        ("iommu-group", "0000:55:00.0", "48"),
        ("ib-device", "mlx5_0", "0000:56:00.0"),
        ("netdev-mtu", "ens6np0", "9000"),
        ("netdev-state", "ens6np0", "UP"),
        ("netdev-mtu", "ens6np0.30", "1500"),
        ("netdev-state", "ens6np0.30", "DOWN"),
        ("mentioned-setting", "NCCL_NET_GDR_LEVEL", "0"),
        ("verbs-failed", "ibv_reg_mr_iova2", "Cannot allocate memory"),
        ("bare-metal", "", "Bare metal"),
    }
    (missing, _there) = facts.of("peer-memory-path")
    assert "cannot access" in reading.cite(missing.line).text


def test_one_file_of_notes_gives_each_formats_facts() -> None:
    kinds = {reading.kind for reading in open_text(NOTES).readings}
    assert kinds == {"uname", "nvidia_driver", "environment", "host_notes"}


def test_every_reading_of_a_file_quotes_its_own_lines() -> None:
    for reading in open_text(NOTES).readings:
        assert isinstance(reading, Reading)
        line = getattr(reading.facts, "line", 0)
        if line:
            assert reading.cite(line).text == NOTES.splitlines()[line - 1].strip()


def test_what_an_adapters_maker_wrote_into_it_is_no_product() -> None:
    vpd = "\tCapabilities: [48] Vital Product Data\n\t\tProduct Name: Fancy NIC 400G\n\t\tRead-only fields:\n"
    assert not product.looks_like(vpd)
    assert product.read(vpd + "\tProduct Name: BOX-9000\n").facts.name == "BOX-9000"


@pytest.mark.parametrize("command", ["echo $NCCL_IB_HCA", 'echo "${NCCL_IB_HCA}"', "printenv NCCL_IB_HCA"])
def test_a_variable_that_was_asked_for(command: str) -> None:
    text = f"$ {command}\nmlx5_0,mlx5_1\n$ echo $NCCL_DEBUG\n$ echo $UCX_TLS\n\nmlx5_9\n"
    facts = environment.read(text).facts
    assert isinstance(facts, Environment)
    assert [(found.name, found.value, found.line) for found in facts.settings] == [
        ("NCCL_IB_HCA", "mlx5_0,mlx5_1", 2)
    ]
