#!/usr/bin/env bash
# Install the Debian packages that a fuller run of the tests needs. What is there already is left alone.
#
#   chromium         the browser of tests/ui
#   fonts-noto-cjk   Chinese in its pictures
#   make             the words of this repository
#   python3-venv     only where this Python cannot make a virtual environment
#
# For real verbs in a virtual machine (tests/vm), which runs a kernel of its own:
#
#   qemu-system-x86 busybox-static kmod cpio          the machine and what it boots
#   rdma-core ibverbs-utils perftest python3-pyverbs  what runs in it, and what gdviz is measured against
#   iproute2 pciutils                                 rdma, ip, lspci
set -euo pipefail

wanted=(fonts-noto-cjk make)
if [ "$(uname -m)" = x86_64 ]; then
  wanted+=(qemu-system-x86 busybox-static kmod cpio)
  wanted+=(rdma-core ibverbs-utils perftest python3-pyverbs iproute2 pciutils)
fi
command -v chromium > /dev/null || wanted+=(chromium)
python3 -c 'import ensurepip' 2> /dev/null || wanted+=(python3-venv)

missing=()
for package in "${wanted[@]}"; do
  dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "Neither root nor sudo: cannot install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo -n env)
else
  as_root=(env)
fi
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
