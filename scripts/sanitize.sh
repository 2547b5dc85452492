#!/usr/bin/env bash
# The tests of the lowest modules under the sanitizers, and the fuzz targets that need no other module: scripts/sanitize.sh [SECONDS],
# for each fuzz target, 60 by default. In full: `ctest --preset asan`, `ctest --preset tsan`, tests/fuzz/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
tests=(base_foundation_test tensor_foundation_test formats_foundation_test)
targets=(cluster_spec_fuzz frame_fuzz)

scripts/setup.sh clang libclang-rt-14-dev

run_tests() {  # preset
  local test
  for test in "${tests[@]}"; do
    echo "$1 $test"
    "build/$1/bin/$test" --gtest_brief=1
  done
}

scripts/build.sh fuzz "${tests[@]}" "${targets[@]}"
run_tests fuzz
for target in "${targets[@]}"; do
  mkdir -p "build/fuzz/corpus/$target"
  echo "fuzz $target, $seconds s"
  "build/fuzz/bin/$target" -max_total_time="$seconds" -timeout=20 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build/fuzz/$target-" "build/fuzz/corpus/$target" &
done
for target in "${targets[@]}"; do wait -n; done

scripts/build.sh tsan "${tests[@]}"
run_tests tsan
