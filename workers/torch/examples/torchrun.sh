#!/bin/sh
# One worker over the GPUs (or, without any, two CPU processes) of this machine.
#
#   sh examples/torchrun.sh Qwen/Qwen2.5-VL-3B-Instruct --dtype bf16 --recompute
set -eu
model=${1:?Usage: torchrun.sh MODEL [options of saccade_worker]}
shift
count=${PROCESSES:-$(python -c 'import torch; print(torch.cuda.device_count() or 2)')}
exec python -m torch.distributed.run --standalone --nproc-per-node "$count" \
  -m saccade_worker --model "$model" "$@"
