#!/usr/bin/env bash
# Set-up, build, and the main job: a wide & deep model of the census data is trained, evaluated, exported and asked.
#
# The data is what is in data/census, else the published files (in the folder that $CENSUS names, or in data/census of a
# folder beside the repository; else they are downloaded),
# else a synthetic set of the same form.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release sextant-cli
sextant=build/release/bin/sextant
model_dir=runs/quickstart

make_data() {
  if [ -f data/census/adult.data.csv ] && [ -f data/census/adult.test.csv ]; then
    echo "in data/census, made before"
    return
  fi
  for folder in "${CENSUS:-}" ../*/data/census; do
    if [ -f "$folder/adult.data" ] && "$sextant" data census --from "$folder" --out data/census > /dev/null; then
      echo "real, from $folder"
      return
    fi
  done
  if timeout 120 "$sextant" data census --out data/census > /dev/null 2>&1; then
    echo "real, downloaded"
    return
  fi
  "$sextant" data census --synthetic --out data/census > /dev/null
  echo "synthetic: the real one could not be downloaded. What is learned has no meaning"
}

data=$(make_data)
rm -rf "$model_dir"
start=$(date +%s.%N)
result=$("$sextant" train wide_deep --data data/census --model_dir "$model_dir" --train_steps 1000 --seed 1 --verbosity warn)
seconds=$(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $start }")

cat > "$model_dir/person.json" <<'PERSON'
{"age": 25, "workclass": " Private", "education": " 11th", "education_num": 7, "marital_status": " Never-married", "occupation": " Machine-op-inspct", "relationship": " Own-child", "race": " Black", "gender": " Male", "capital_gain": 0, "capital_loss": 0, "hours_per_week": 40, "native_country": " United-States"}
PERSON
prediction=$("$sextant" predict --model "$model_dir/export/census" "$model_dir/person.json" \
  --keys class_ids --keys logits --keys probabilities)

cat <<END

Census data: $data.
Wide & deep, 1,000 steps of 40 rows, evaluated on 4,000 rows and exported, in $seconds s:

$result

Does a machine operator of 25 earn more than 50,000 a year (class 1)?

$prediction

Try next:
  $sextant train wide_deep --model_dir runs/longer --train_steps 10000     # accuracy 0.84 and more
  $sextant eval --model_dir $model_dir --eval_steps 0                  # all test rows
  $sextant predict --model $model_dir --with_label data/census/adult.test.csv --output csv | head
  $sextant inspect $model_dir                                          # what is in the files
  $sextant saved-model show --dir $model_dir/export/census/* --all
  $sextant train --help                                                    # other models
The guide is in docs/guide.
END
