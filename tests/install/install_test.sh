#!/usr/bin/env bash
# install_test.sh BUILD USER CXX HIDDEN [SANITIZERS]: installs BUILD, looks at what is exported and installed, builds the
# programs in USER against the installed tree only, runs them. Programs that use a library with sanitizers must have them too.
set -euo pipefail
build=$1 user=$2 cxx=$3 hidden=$4 flags=${5:+-fsanitize=$5}
work=$build/install_test
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"

"$work/prefix/bin/sextant" devices > "$work/devices.txt"

# The public interface and no more: a process may hold TensorFlow too, and users see no header of the inside.
if [ "$hidden" = ON ]; then
  libraries=$(find "$work/prefix" -name 'libsextant*.so')
  # shellcheck disable=SC2086
  nm -D --defined-only $libraries > "$work/exported.txt"
  if grep 10tensorflow "$work/exported.txt"; then
    echo "a library exports names of TensorFlow's" >&2
    exit 1
  fi
  if nm -DC --defined-only "$(find "$work/prefix" -name libsextant_serving.so)" | grep -E 'serving::(Batcher|ModelManager|Servable)::|boost::'; then
    echo "libsextant_serving exports what is not in its public headers" >&2
    exit 1
  fi
  grep -q _ZTIN7sextant5ErrorE "$work/exported.txt"
fi
if find "$work/prefix/include" -path '*/cli/*' -o -path '*/testing/*' -o -name '*-inl.h' -o -name '*test*' | grep .; then
  echo "headers that are not public are installed" >&2
  exit 1
fi
# shellcheck disable=SC2086
python3 "${user%/*}/headers_alone.py" "$work/prefix/include" "$cxx" $flags $(pkg-config --cflags fmt protobuf)

cmake -S "$user" -B "$work/user" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS="$flags" > "$work/configure.log"
cmake --build "$work/user"
test "$("$work/user/hello")" = "[[36.]]"
"$work/user/own_op"
"${user%/*}/loaded_libraries.sh" "$work/prefix" "$work/user/remote" "$work/user/served" "$work"

# The programs, as a user of the installed library builds them.
programs=$(cd "$user/../../../programs" && pwd)
cmake -S "$programs" -B "$work/programs" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS="-O0 $flags" > "$work/programs.log"
cmake --build "$work/programs"
test "$("$work/programs/bin/counter")" = "$(printf '0\n1\n2\n3')"

pc=$(find "$work/prefix" -name sextant.pc)
export PKG_CONFIG_PATH=${pc%/*}
# shellcheck disable=SC2046,SC2086
"$cxx" $flags "$user/hello.cc" -o "$work/hello_pc" $(pkg-config --cflags --libs sextant) "-Wl,-rpath,$(pkg-config --variable=libdir sextant)"
test "$("$work/hello_pc")" = "[[36.]]"
echo "installed tree works"
