#!/usr/bin/env bash
# loaded_libraries.sh PREFIX REMOTE SERVED WORK: gRPC is loaded by processes that use it, and by no others. REMOTE is a program that
# runs on the task given to it and is linked with libsextant only; SERVED does so too, beside a server of models.
set -euo pipefail
prefix=$1 remote=$2 served=$3 work=$4

# What the dynamic linker loads for a command, also by dlopen, goes to $work/loaded.txt.
record() {
  rm -f "$work"/loaded.*
  LD_DEBUG=files LD_DEBUG_OUTPUT=$work/loaded "$@" > "$work/said.txt"
  cat "$work"/loaded.* > "$work/files.txt"
  sed -n 's/.*file=\(\S*\) .*generating link map.*/\1/p' "$work/files.txt" | sort -u > "$work/loaded.txt"
}

for arguments in "--version" "train sequence_autoencoder --model_dir $work/training --train_steps 2"; do
  # shellcheck disable=SC2086
  record "$prefix/bin/sextant" $arguments
  grep -q libc.so "$work/loaded.txt"
  if grep -E 'grpc|prometheus|sextant_dist|sextant_serving' "$work/loaded.txt"; then
    echo "sextant $arguments loads gRPC" >&2
    exit 1
  fi
done

exec 3< <(SEXTANT_LOG_LEVEL=info exec "$prefix/bin/sextant" server --cluster_spec 'local|127.0.0.1:0' --job_name local 2>&1)
server=$!
trap 'kill $server' EXIT
target=
while [ -z "$target" ] && read -r line <&3; do
  case $line in *"Started server with target: "*) target=${line##*target: } ;; esac
done
record "$remote" "$target"
grep -q 'Hello, task!' "$work/said.txt"
# By its soname: the name without a version comes with the development files only.
library=$(find "$prefix" -name libsextant_dist.so)
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
grep -q "/$soname\$" "$work/loaded.txt"
grep -q libgrpc "$work/loaded.txt"
if grep sextant_serving "$work/loaded.txt"; then
  echo "a session on another task loads the server of models" >&2
  exit 1
fi

record "$served" "$work/half_plus_two" "$target"
grep -q 'Hello, task!' "$work/said.txt"
grep -q libsextant_serving "$work/loaded.txt"
