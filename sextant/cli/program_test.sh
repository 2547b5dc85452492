#!/usr/bin/env bash
# program_test.sh SEXTANT: runs the program: help of every command, exit codes, Ctrl-C.
set -uo pipefail
sextant=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() { echo "FAILED: $*"; failed=1; }

# expect CODE WORDS ARGUMENTS...: that exit code, and those words on stderr (code > 0) or stdout.
expect() {
  local code=$1 words=$2
  shift 2
  "$sextant" "$@" > "$work/out" 2> "$work/err"
  local got=$?
  [ "$got" -eq "$code" ] || fail "sextant $*: exit code $got instead of $code: $(cat "$work/err")"
  if [ "$code" -eq 0 ]; then local where=out; else where=err; fi
  grep -qF -- "$words" "$work/$where" || fail "sextant $*: no '$words' in: $(cat "$work/$where")"
}

expect 0 "sextant 0." --version
expect 2 "name a command"
expect 2 "there is no command nothing" nothing
expect 2 "Try sextant data --help." data
expect 2 "--nothing" devices --nothing
expect 1 "sextant inspect: there is neither" inspect "$work/nothing"
expect 1 "sextant data census:" data census --out "$work/census" --from "$work/nothing"
expect 0 "CPU:0" devices
expect 0 '"instruction_sets"' devices --json

# Every command has help with an example.
"$sextant" --help | sed -n '/^Commands:/,$p' | grep -o '^  sextant [a-z-]*' > "$work/commands"
[ -s "$work/commands" ] || fail "--help lists no commands"
while read -r _ command; do
  expect 0 "Example:" "$command" --help
  "$sextant" "$command" --help | sed -n '/^Commands:/,$p' | grep -o '^  sextant [a-z-]* [a-z0-9_-]*' > "$work/below"
  while read -r _ _ below; do expect 0 "Example:" "$command" "$below" --help; done < "$work/below"
done < "$work/commands"

# A small set, made, checked, looked at.
expect 0 "Done!" data mnist --out "$work/mnist" --synth --train 20 --validation 5 --test 5
expect 0 "20 records" data verify "$work/mnist/train.tfrecords"
expect 0 "20 records of tf.Example" inspect "$work/mnist/train.tfrecords"
expect 0 "20 images" inspect "$work/mnist/train.tfrecords" --images "$work/sheet.png"
printf 'x' >> "$work/mnist/train.tfrecords"
"$sextant" data verify "$work/mnist/train.tfrecords" > "$work/out" && fail "damage is not noticed"
grep -q "DAMAGED after 20 whole records" "$work/out" || fail "damage is not named: $(cat "$work/out")"

# Ctrl-C while a large set is being made: exit code 130, nothing half done left.
bash -c 'trap - INT; exec "$@"' - "$sextant" data cifar10 --out "$work/cut" --synthetic > "$work/out" 2>&1 &
pid=$!
until [ -d "$work/cut" ]; do kill -0 $pid 2> /dev/null || break; done
kill -INT $pid
wait $pid
code=$?
[ "$code" -eq 130 ] || fail "Ctrl-C: exit code $code"
[ -z "$(ls "$work/cut")" ] || fail "Ctrl-C left $(ls "$work/cut")"

exit $failed
