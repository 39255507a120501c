#!/usr/bin/env bash
# Install the Debian packages that a fuller run of the tests needs. What is there already is left alone.
#
#   chromium         the browser of tests/ui
#   fonts-noto-cjk   Chinese in its pictures
#   make             the words of this repository
#   python3-venv     only where this Python cannot make a virtual environment
set -euo pipefail

wanted=(fonts-noto-cjk make)
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
