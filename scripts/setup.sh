#!/usr/bin/env bash
# Installs the Debian 12 packages that Sextant builds with, and those named as arguments. Does nothing when all are there.
set -euo pipefail

packages=(
  build-essential ninja-build cmake pkg-config ccache git python3 clang-format
  libprotobuf-dev protobuf-compiler libfmt-dev libspdlog-dev libdnnl-dev libhwy-dev libeigen3-dev
  libpng-dev libjpeg62-turbo-dev libgif-dev libre2-dev zlib1g-dev libsnappy-dev libfarmhash-dev libssl-dev
  libcli11-dev nlohmann-json3-dev libcurl4-openssl-dev libarchive-dev libgrpc++-dev
  protobuf-compiler-grpc libboost-dev rapidjson-dev prometheus-cpp-dev libgtest-dev qemu-user spin faketime
  "$@"
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
echo "Installing: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
