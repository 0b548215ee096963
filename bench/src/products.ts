/**
 * Matrix products and log-probs of an LM head beside PyTorch's, in turns.
 *
 *   node bench/dist/products.js --python path/to/python [--rounds 7] [--threads 2] [--json file]
 *     [--cases gemm:f32:2048x2048x2048,logprob:bf16:128x2048x151936]
 *
 * Kinds: gemm and logprob, and gemmBoth and logprobBoth with both gradients; dims are rows × depth ×
 * columns. Figures are medians; the first round warms up and is left out. The ratio is PyTorch's
 * time by ours.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError, randomAt } from '@saccade/core';
import { linearLogprob } from '@saccade/logprob';
import { type Device, type DeviceArrays, gemm, openDevice } from '@saccade/ops';
import { median } from './median.ts';
import { startPeer } from './peer-process.ts';

const KINDS = ['gemm', 'gemmBoth', 'logprob', 'logprobBoth'];
const DTYPES = ['f32', 'bf16'] as const;
/** Short runs are repeated for this long. */
const TURN_SECONDS = 0.03;

const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    rounds: { type: 'string', default: '7' },
    threads: { type: 'string', default: String(availableParallelism()) },
    cases: {
      type: 'string',
      default: DTYPES.flatMap((dtype) => [
        `gemm:${dtype}:2048x2048x2048`,
        `gemmBoth:${dtype}:2048x2048x2048`,
        `gemm:${dtype}:2000x128x384`,
        `gemm:${dtype}:10000x256x256`,
        `gemmBoth:${dtype}:10000x256x256`,
        `logprob:${dtype}:2000x128x512`,
        `logprobBoth:${dtype}:2000x128x512`,
        `logprob:${dtype}:128x2048x151936`,
        `logprobBoth:${dtype}:128x2048x151936`,
      ]).join(','),
    },
    json: { type: 'string' },
  },
});
const [rounds, threads] = [Number(values.rounds), Number(values.threads)];

interface Case {
  readonly kind: string;
  readonly dtype: (typeof DTYPES)[number];
  readonly dims: readonly [number, number, number];
}

function parseCase(text: string): Case {
  const [kind = '', dtype, dims = ''] = text.split(':');
  const [a, b, c] = dims.split('x').map(Number);
  const known = DTYPES.find((candidate) => candidate === dtype);
  if (!KINDS.includes(kind) || known === undefined || !a || !b || !c) {
    throw new ConfigError(
      'cases',
      `"${text}" is not a case. Pass kind:dtype:AxBxC with one of ${KINDS.join(', ')} and ` +
        `${DTYPES.join(' or ')}.`,
    );
  }
  return { kind, dtype: known, dims: [a, b, c] };
}

/** What one run of a case does on the device; its results are freed again. */
function prepare(device: Device, { kind, dtype, dims: [a, b, c] }: Case): () => void {
  const random = randomAt(1, 'bench-products');
  // A million numbers over and over: drawing each of a head's 300 million would take longest.
  const draw = (length: number, scale: number): Float32Array => {
    const values = new Float32Array(length);
    const drawn = Math.min(length, 1_000_003);
    for (let i = 0; i < drawn; i++) values[i] = scale * (random.uniform() - 0.5);
    for (let filled = drawn; filled < length; filled *= 2) values.copyWithin(filled, 0, filled);
    return values;
  };
  const x = device.upload(dtype, [a, b], draw(a * b, 3.5));
  const w = device.upload(dtype, [c, b], draw(c * b, 3.5 / Math.sqrt(b)));
  const isGemm = kind.startsWith('gemm');
  const op = isGemm ? gemm : linearLogprob;
  const indices = Int32Array.from({ length: a }, () => random.integer(c));
  const inputs: DeviceArrays = isGemm
    ? { x, w }
    : { hidden: x, weight: w, targets: device.upload('i32', [a], indices) };
  const gradient = isGemm
    ? { y: device.upload(dtype, [a, c], draw(a * c, 3.5)) }
    : { logprobs: device.upload('f32', [a], draw(a, 3.5)) };
  return () => {
    const outputs = device.forward(op, inputs);
    const gradients = kind.endsWith('Both') ? device.backward(op, gradient, inputs, outputs) : {};
    for (const array of [...Object.values(outputs), ...Object.values(gradients)]) {
      device.free(array);
    }
  };
}

function timeOurs(run: () => void): number {
  const start = performance.now();
  let count = 0;
  while (count === 0 || performance.now() - start < 1000 * TURN_SECONDS) {
    run();
    count++;
  }
  return (performance.now() - start) / 1000 / count;
}

const script = fileURLToPath(new URL('../peers/torch_products.py', import.meta.url));
const peer = await startPeer(values.python, script, [String(threads)], 'torch');
const results: Record<string, unknown>[] = [];
console.log(`torch ${String(peer.ready.torch)}, ${cpus()[0]?.model}, ${threads} threads`);
for (const text of values.cases.split(',')) {
  const parsed = parseCase(text);
  const backend = nativeBackend({ threads });
  const device = openDevice(backend);
  const run = prepare(device, parsed);
  const question = `${parsed.kind} ${parsed.dtype} ${parsed.dims.join('x')} ${TURN_SECONDS}`;
  const times = { ours: [] as number[], torch: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    const torch = Number((await peer.ask(question)).seconds);
    const ours = timeOurs(run);
    if (round === 0) continue;
    times.torch.push(torch);
    times.ours.push(ours);
  }
  const [ours, torch] = [median(times.ours), median(times.torch)];
  const milliseconds = (seconds: number): string => (1000 * seconds).toFixed(3).padStart(10);
  console.log(
    `${text.padEnd(38)} torch ${milliseconds(torch)} ms  ours ${milliseconds(ours)} ms` +
      `  ratio ${(torch / ours).toFixed(2)}`,
  );
  results.push({ case: text, torch: times.torch, ours: times.ours, ratio: torch / ours });
  device.dispose();
}
peer.close();
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
}
