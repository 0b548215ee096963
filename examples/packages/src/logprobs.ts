/** Log-probs, entropies and their gradients over a vocabulary of 151,936, without the logits. */
import { nativeBackend } from '@saccade/backend-native';
import { linearLogprob } from '@saccade/logprob';
import { openDevice } from '@saccade/ops';

const [rows, width, vocabulary] = [32, 64, 151_936];
const device = openDevice(nativeBackend());
const noise = (count: number, scale: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => scale * Math.sin(12.9898 * i + (i % 7)));

const hidden = device.upload('f32', [rows, width], noise(rows * width, 1));
const weight = device.upload('f32', [vocabulary, width], noise(vocabulary * width, 0.2));
const targets = device.upload(
  'i32',
  [rows],
  Int32Array.from({ length: rows }, (_, row) => (row * 4747) % vocabulary),
);
const inputs = { hidden, weight, targets };
const outputs = device.forward(linearLogprob, inputs);
const ones = device.upload('f32', [rows], new Float32Array(rows).fill(1));
const gradients = device.backward(linearLogprob, { logprobs: ones }, inputs, outputs);

const logprobs = await device.read(outputs.logprobs);
const entropy = await device.read(outputs.entropy);
const gradHidden = await device.read(gradients.hidden);
const mean = (list: ArrayLike<number>): number =>
  Array.from(list).reduce((sum, value) => sum + value, 0) / list.length;
console.log(
  `${rows} rows: mean log-prob ${mean(logprobs).toFixed(3)} nats, mean entropy ` +
    `${mean(entropy).toFixed(3)} of at most ${Math.log(vocabulary).toFixed(3)}`,
);
console.log(`gradient of the hidden states: norm ${Math.hypot(...gradHidden).toFixed(4)}`);
if (!Array.from(logprobs).every((value) => value < 0))
  throw new Error('a log-prob is not negative');
device.dispose();
