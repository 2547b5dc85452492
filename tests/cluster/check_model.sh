#!/usr/bin/env bash
# check_model.sh MODEL [safety|liveness]: explores all states of a Promela model with spin; fails on a violation.
set -euo pipefail
model=$(realpath "$1") what=${2:-safety}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
spin -a "$model" > spin.log || { cat spin.log; exit 1; }
if [ "$what" = safety ]; then
  cc -O2 -DNOCLAIM -DSAFETY -DMEMLIM=2000 -o pan pan.c
  ./pan -m20000 > pan.log
else
  cc -O2 -DNFAIR=4 -DMEMLIM=2000 -o pan pan.c
  ./pan -a -f -m20000 > pan.log
fi
grep -E "errors:|states, stored" pan.log
grep -q "errors: 0" pan.log
! grep -q "max search depth too small\|out of memory\|MEMLIM bound" pan.log
