#!/usr/bin/env bash
# install_test.sh BUILD USER CXX [SANITIZERS]: installs BUILD, builds the programs in USER against the installed tree
# only, runs them. Programs that use a library with sanitizers must have them too.
set -euo pipefail
build=$1 user=$2 cxx=$3 flags=${4:+-fsanitize=$4}
work=$build/install_test
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"

"$work/prefix/bin/sextant" devices > "$work/devices.txt"

cmake -S "$user" -B "$work/user" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS="$flags" > "$work/configure.log"
cmake --build "$work/user"
test "$("$work/user/hello")" = "[[36.]]"
"$work/user/own_op"

pc=$(find "$work/prefix" -name sextant.pc)
export PKG_CONFIG_PATH=${pc%/*}
# shellcheck disable=SC2046,SC2086
"$cxx" $flags "$user/hello.cc" -o "$work/hello_pc" $(pkg-config --cflags --libs sextant) "-Wl,-rpath,$(pkg-config --variable=libdir sextant)"
test "$("$work/hello_pc")" = "[[36.]]"
echo "installed tree works"
