#!/usr/bin/env bash
# Builds one preset: scripts/build.sh [release|dev|asan|tsan|fuzz] [TARGET ...]. Programs land in build/<preset>/bin.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
cmake --preset "$preset" > /dev/null
cmake --build --preset "$preset" --parallel "$(nproc)" ${@:+--target "$@"}
