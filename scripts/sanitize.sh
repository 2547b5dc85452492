#!/usr/bin/env bash
# The tests of the lowest modules under the sanitizers, and the fuzz targets that need no other module: scripts/sanitize.sh [SECONDS],
# for each fuzz target, 60 by default. In full: `ctest --preset asan`, `ctest --preset tsan`, tests/fuzz/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
tests=(base_foundation_test tensor_foundation_test formats_foundation_test)
targets=(cluster_spec_fuzz frame_fuzz json_request_fuzz rest_path_fuzz serving_config_fuzz shared_frames_fuzz tensor_wire_fuzz)

scripts/setup.sh clang libclang-rt-14-dev

run_tests() {  # preset, command in front
  local preset=$1 test
  shift
  for test in "${tests[@]}"; do
    echo "$preset: $test"
    "$@" "build/$preset/bin/$test" --gtest_brief=1 > "build/$preset/$test.log" 2>&1 || { cat "build/$preset/$test.log"; return 1; }
  done
}

fuzz() {  # target
  mkdir -p "build/fuzz/corpus/$1"
  if "build/fuzz/bin/$1" -max_total_time="$seconds" -timeout=20 -print_final_stats=1 -artifact_prefix="build/fuzz/$1-" \
    "build/fuzz/corpus/$1" > "build/fuzz/$1.log" 2>&1; then
    echo "fuzz: $1, $(sed -n 's/stat::number_of_executed_units: *//p' "build/fuzz/$1.log") runs in $seconds s"
  else
    tail -n 60 "build/fuzz/$1.log"
    return 1
  fi
}
export -f fuzz
export seconds

scripts/build.sh fuzz "${tests[@]}" "${targets[@]}"
run_tests fuzz
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'fuzz {}'

scripts/build.sh tsan "${tests[@]}"
# Where a kernel spreads addresses further than the sanitizer knows, it starts only without.
if "build/tsan/bin/${tests[0]}" --gtest_list_tests > /dev/null 2>&1; then
  run_tests tsan
else
  run_tests tsan setarch --addr-no-randomize
fi
