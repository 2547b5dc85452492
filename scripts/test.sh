#!/usr/bin/env bash
# Set-up, build, all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
tools/check
scripts/build.sh release
ctest --preset release --timeout 600 --parallel "$(nproc)" "$@"
