#!/usr/bin/env bash
# Checks and times the CUDA kernels on this machine, from what pack.mjs packed: bench/gpu/README.md.
#
#   bench/gpu/run.sh [--dry-run] [--seconds 680] [--python python3] [--out out]
#
# Needs Linux x64, NVIDIA's driver, tar, and Python with torch for the peers. Results: report.txt,
# report.json and log.txt in --out, else $OUT, else ./out.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packed=$(dirname "$(dirname "$here")")
archive=$here/build/saccade-gpu.tar.gz
if [ ! -e "$packed/bench/dist/gpu/saccade-gpu.mjs" ]; then
  if [ ! -e "$archive" ]; then
    echo "$archive is not there. Run node bench/gpu/pack.mjs where nvcc is, and bring it along." >&2
    exit 1
  fi
  packed=$(mktemp -d)
  trap 'rm -rf "$packed"' EXIT
  tar -xzf "$archive" -C "$packed" --strip-components=1
fi
node=$packed/node
[ -x "$node" ] || node=$(command -v node) || { echo "There is no Node here, and none packed." >&2; exit 1; }
"$node" --version >/dev/null || { echo "The packed Node does not run on this system." >&2; exit 1; }
# Arrays go to the peers as files, some of more than a gigabyte.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi
export SACCADE_ADDON=$packed/native/saccade.node
"$node" "$packed/bench/dist/gpu/saccade-gpu.mjs" all \
  --doctor "$packed/bench/dist/gpu/doctor.mjs" --commit "$(cat "$packed/commit")" "$@"
