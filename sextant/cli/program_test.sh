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
env --default-signal=INT "$sextant" data cifar10 --out "$work/cut" --synthetic > "$work/out" 2>&1 &
pid=$!
until [ -d "$work/cut" ]; do kill -0 $pid 2> /dev/null || break; done
kill -INT $pid
wait $pid
code=$?
[ "$code" -eq 130 ] || fail "Ctrl-C: exit code $code"
[ -z "$(ls "$work/cut")" ] || fail "Ctrl-C left $(ls "$work/cut")"

# A small model: trained, stopped, gone on with, evaluated, exported, asked.
expect 0 "Done!" data census --out "$work/census" --synthetic --train 400 --test 100
train=(train wide_deep --data "$work/census" --model_dir "$work/model" --train_batch_size 20 --eval_steps 2 --hidden_units 8,4)
expect 0 "is at step 20." "${train[@]}" --train_steps 20 --seed 1
"$sextant" "${train[@]}" --train_steps 100000000 --json > "$work/out" 2> "$work/err" &
pid=$!
until grep -q '"event":"train"' "$work/out"; do kill -0 $pid 2> /dev/null || break; done
kill -TERM $pid
wait $pid
code=$?
[ "$code" -eq 143 ] || fail "SIGTERM: exit code $code: $(cat "$work/err")"
step=$(sed -n 's/^model_checkpoint_path: ".*ckpt-\([0-9]*\)"$/\1/p' "$work/model/checkpoint")
[ "$step" -gt 20 ] || fail "SIGTERM: no checkpoint of what was done: $(cat "$work/model/checkpoint")"
expect 0 "is at step $((step + 5))." "${train[@]}" --train_steps $((step + 5))
expect 0 "at step $((step + 5)):" eval --model_dir "$work/model" --data "$work/census" --eval_steps 0
expect 0 "$work/export/" export --model_dir "$work/model" --out "$work/export" --receiver csv_with_label
expect 0 "Predicted 100 instances of 1 files" predict --model "$work/export" --out "$work/predictions" "$work/census/adult.test.csv"
expect 0 "0 files to $work/predictions; 1 were finished before" \
  predict --model "$work/export" --out "$work/predictions" "$work/census/adult.test.csv"
expect 0 "class_ids" predict --model "$work/export" --format csv --output csv - < <(head -n 3 "$work/census/adult.test.csv")
[ "$(wc -l < "$work/out")" -eq 4 ] || fail "predict -: $(cat "$work/out")"
head -n 2 "$work/census/adult.test.csv" | sed 's/, [<>=]*50K$//' > "$work/people.csv"
expect 0 "ALL_CLASS_IDS  ALL_CLASSES" predict --model-dir "$work/model" --text-instances "$work/people.csv"
[ "$(wc -l < "$work/out")" -eq 3 ] || fail "predict --text-instances: $(cat "$work/out")"
expect 1 "people.csv, line 1: byte " predict --model-dir "$work/model" --json-instances "$work/people.csv"
expect 2 "give one of FILE, --json_instances and --text_instances" predict --model-dir "$work/model"
expect 2 "give one of FILE, --json_instances and --text_instances" \
  predict --model-dir "$work/model" --json-instances "$work/people.csv" "$work/people.csv"
expect 2 "there is no model wide; did you mean wide_deep?" train wide
expect 1 "there is no hyper-parameter 'x'" eval --model_dir "$work/model" --hparams x=1
expect 1 "holds model 'wide_deep', not 'linear'" train linear --data "$work/census" --model_dir "$work/model"

# A command that waits for the bytes of a pipe ends with the first signal.
mkfifo "$work/pipe.csv"
mkdir "$work/piped_census"
mkfifo "$work/piped_census/adult.data"
expect_interrupted() {  # PIPE ARGUMENTS...
  local pipe=$1
  shift
  "$sextant" "$@" > "$work/out" 2> "$work/err" &
  local pid=$!
  exec 9> "$pipe"  # until the command opens it
  kill -TERM $pid
  timeout 30 tail --pid=$pid -f /dev/null || kill -KILL $pid
  wait $pid
  local code=$?
  exec 9>&-
  [ "$code" -eq 143 ] || fail "$*: SIGTERM while it waits: exit code $code: $(cat "$work/err")"
}
expect_interrupted "$work/pipe.csv" predict --model "$work/export" --format csv "$work/pipe.csv"
expect_interrupted "$work/pipe.csv" data verify "$work/pipe.csv"
expect_interrupted "$work/pipe.csv" inspect "$work/pipe.csv"
expect_interrupted "$work/piped_census/adult.data" data census --out "$work/cut" --from "$work/piped_census"

# What killed runs left beside their outputs is deleted by the next one.
"$sextant" predict --model "$work/export" --format csv --out "$work/killed" "$work/pipe.csv" > "$work/out" 2> "$work/err" &
pid=$!
exec 9> "$work/pipe.csv"
kill -KILL $pid
wait $pid 2> /dev/null
exec 9>&-
ls "$work/killed" | grep -q '\.tmp-' || fail "a killed predict left $(ls "$work/killed")"
expect 0 "of 1 files" predict --model "$work/export" --out "$work/killed" "$work/census/adult.test.csv"
ls "$work/killed" | grep '\.tmp-' && fail "predict leaves what a killed one left"
"$sextant" data cifar10 --out "$work/killed" --synthetic > "$work/out" 2>&1 &
pid=$!
until ls "$work/killed" | grep -q '\.tmp-'; do kill -0 $pid 2> /dev/null || break; done
kill -KILL $pid
wait $pid 2> /dev/null
ls "$work/killed" | grep -q '\.tmp-' || fail "a killed data left $(ls "$work/killed")"
expect 0 "Done!" data census --out "$work/killed" --synthetic --train 4 --test 4
ls "$work/killed" | grep '\.tmp-' && fail "data leaves what a killed one left"

# Things in the wrong place.
: > "$work/empty"
expect 1 "holds no checkpoint; train a model there first" eval --model_dir "$work/census"
expect 1 "is a file; give the directory of a SavedModel" predict --model "$work/empty" "$work/census/adult.test.csv"
expect 1 "$work/empty holds neither saved_model.pb" saved-model show --dir "$work/empty"
expect 1 "$work/empty: cannot create directory" train linear --data "$work/census" --model_dir "$work/empty"
expect 1 "$work/empty/adult.data.csv: no such file; make it with" train linear --data "$work/empty" --model_dir "$work/none"
expect 1 "the model has no signature 'predcit'; did you mean predict?" \
  predict --model "$work/model" --signature_def predcit "$work/census/adult.test.csv" --with_label
expect 1 "has no tensor 'global_stp'; did you mean global_step?" inspect "$work/model" --tensor global_stp
expect 1 "the model has no signature 'predcit'; did you mean predict?" saved-model run \
  --dir "$(ls -d "$work"/model/export/census/* | head -n 1)" --tag_set serve --signature_def predcit --input_exprs 'age=[1]'
expect 1 "$work/census: cannot put the file there: Is a directory" inspect "$work/model" --graph "$work/census"
expect 0 "open it in a browser" inspect "$work/model" --graph "$work/graph.html"
"$sextant" data verify "$work/absent" > "$work/out" && fail "verify: a missing file is fine"
grep -q "^$work/absent: NOT READ: cannot stat: No such file" "$work/out" || fail "verify: $(cat "$work/out")"

# Readers that go away: what only prints ends without a word, what works goes on.
"$sextant" train --help 2> "$work/err" | head -n 1 > /dev/null
[ -s "$work/err" ] && fail "--help | head: $(cat "$work/err")"
"$sextant" inspect "$work/mnist/test.tfrecords" --json 2> "$work/err" | head -n 1 > /dev/null
[ -s "$work/err" ] && fail "inspect | head: $(cat "$work/err")"
rm -rf "$work/piped"
piped=(train linear --data "$work/census" --model_dir "$work/piped" --train_batch_size 20 --eval_steps 2)
"$sextant" "${piped[@]}" --train_steps 300 --log_step_count_steps 1 --json 2> "$work/err" | head -n 1 > /dev/null
code=${PIPESTATUS[0]}
[ "$code" -eq 0 ] || fail "train --json | head: exit code $code: $(cat "$work/err")"
grep -q 'model.ckpt-300"' "$work/piped/checkpoint" || fail "train --json | head: stopped early"
"$sextant" "${piped[@]}" --train_steps 320 --verbosity info 2>&1 | head -n 1 > /dev/null
[ "${PIPESTATUS[0]}" -eq 0 ] || fail "train 2>&1 | head: exit code ${PIPESTATUS[0]}"
"$sextant" devices > /dev/full 2> "$work/err" && fail "a full disk is not noticed"
grep -q "the output cannot be written: No space left" "$work/err" || fail "full disk: $(cat "$work/err")"

# A cluster is told apart by name, its tasks get the signal, and nothing of it is left.
"$sextant" launch --chief --ps 1 -- sh -c 'echo "pid $$"; exec tail -f /dev/null' > "$work/out" 2> "$work/err" &
pid=$!
until [ "$(grep -c " | pid " "$work/out")" -eq 2 ]; do kill -0 $pid 2> /dev/null || break; done
kill -TERM $pid
wait $pid
code=$?
[ "$code" -eq 143 ] || fail "launch, SIGTERM: exit code $code: $(cat "$work/err")"
grep -qF "ps 0 | (signal 15 (Terminated))" "$work/out" || fail "launch, SIGTERM: $(cat "$work/out")"
for task in $(sed -n 's/.* | pid //p' "$work/out"); do kill -0 "$task" 2> /dev/null && fail "launch left $task"; done
expect 2 "nobody would train" launch --ps 1 -- true
expect 1 "no-such-program" launch --chief -- no-such-program

# The arguments of the program of a cluster may be empty, and what we ignore ends it.
expect 0 "chief 0 | <a><><b>" launch --chief -- printf '<%s>' a '' b
"$sextant" launch --chief -- sh -c 'kill -XFSZ $$' > "$work/out" 2> "$work/err"
grep -q "chief 0 | (signal 25 " "$work/out" || fail "launch, SIGXFSZ: $(cat "$work/out")"

# A limit of file sizes is an error of one sentence that names the file, and no half of it is left.
(ulimit -f 100; exec "$sextant" train wide_deep --data "$work/census" --model_dir "$work/limited" --train_steps 5 \
  --verbosity error > "$work/out" 2> "$work/err")
code=$?
[ "$code" -eq 1 ] || fail "ulimit -f: exit code $code: $(cat "$work/err")"
grep -q "^sextant train wide_deep: .*$work/limited/.*: cannot write: File too large" "$work/err" || fail "ulimit -f: $(cat "$work/err")"
[ "$(wc -l < "$work/err")" -eq 1 ] || fail "ulimit -f: $(cat "$work/err")"
find "$work/limited" -name '*.tmp-*' -o -name '*lock*' | grep . && fail "ulimit -f: a file is left"

# Memory that is not there is an error of one sentence, and so is a file that is too large.
if ! ldd "$sextant" | grep -q 'lib[at]san'; then  # a sanitizer reserves terabytes of addresses
  truncate -s 1500M "$work/large"
  (ulimit -v 1200000; exec "$sextant" train linear --flagfile "$work/large" > "$work/out" 2> "$work/err")
  code=$?
  [ "$code" -eq 1 ] || fail "out of memory: exit code $code: $(cat "$work/err")"
  grep -q "^sextant train linear: out of memory" "$work/err" || fail "out of memory: $(cat "$work/err")"
  (ulimit -s 8192; ulimit -v 600000; SEXTANT_THREADS=200 exec "$sextant" train linear --data "$work/census" \
    --model_dir "$work/threads" --train_steps 5 --verbosity error > "$work/out" 2> "$work/err")
  code=$?
  [ "$code" -eq 1 ] || fail "no more threads: exit code $code: $(cat "$work/err")"
  grep -q "^sextant train linear: a thread could not be started: .*; use fewer threads" "$work/err" ||
    fail "no more threads: $(cat "$work/err")"
fi
truncate -s 3G "$work/large"
expect 2 "files of up to 2147483648 can be read whole" train linear --flagfile "$work/large"

exit $failed
