#!/usr/bin/env bash
# Set-up, build, and a first training run: linear regression, fitted step by step.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release
echo
build/release/bin/linear_regression
echo
echo "Next: build/release/bin/warm_up, build/release/bin/matrix_powers --help, README.md for a first program."
