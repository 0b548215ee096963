/**
 * GRPO from the first image to the last optimizer step, on one page: a vision policy with random
 * weights learns from rewards alone to say where a square is.
 *
 *   node dist/grpo.js [steps] [seed]
 */
import { countGlobally, finishMetrics, grpo, negativeLogLikelihood } from '@saccade/algorithms';
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { openDevice } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import {
  createLocalPolicy,
  type EncodedContent,
  nanoConfig,
  type PackedBatch,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { encode } from 'fast-png';

const steps = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? 1);
const P = 24; // prompts per step
const G = 16; // answers to each prompt: a group
const N = P * G;
const updates = 2; // optimizer steps on one batch of answers

// 1. THE TASK: name the quarter of the image that holds a bright square. 28×28 pixels are one visual
// token, and a name is one token. Size, place and color of the square vary, and all pixels are noisy.

const side = 28;
const names = ['a', 'b', 'c', 'd'];

function drawTask(split: string, step: number, index: number) {
  const random = randomAt(seed, split, step, index); // any task can be drawn again, in any order
  const quarter = random.integer(names.length);
  const size = 4 + random.integer(6);
  const left = (quarter % 2) * 14 + random.integer(14 - size);
  const top = Math.floor(quarter / 2) * 14 + random.integer(14 - size);
  const color = [0, 0, 0].map(() => 160 + random.integer(96));
  const data = new Uint8Array(side * side * 3);
  for (let at = 0; at < data.length; at++) {
    const [x, y] = [Math.floor(at / 3) % side, Math.floor(at / 3 / side)];
    const isInside = x >= left && x < left + size && y >= top && y < top + size;
    data[at] = isInside ? (color[at % 3] ?? 0) : random.integer(96);
  }
  const png = encode({ width: side, height: side, data, channels: 3 });
  return { png, name: names[quarter] };
}

const drawTasks = (count: number, split: string, step = 0) =>
  Array.from({ length: count }, (_, index) => drawTask(split, step, index));

// 2. THE POLICY: a Qwen2.5-VL with two blocks in the vision tower and two in the decoder.

const processor = new QwenProcessor(trainTokenizer(['user\n', 'assistant\n'], 280), {
  ...qwenImageProcessor,
  minPixels: side * side,
});
const nano = nanoConfig(processor.codec.vocabSize, processor.tokens);
const device = openDevice(nativeBackend());
const small = { hidden: 64, layers: 2, intermediate: 128, mropeSection: [2, 3, 3] as const };
const vision = { ...nano.vision, depth: 2, hidden: 64, intermediate: 128 };
const model = qwen2_5_vl.model({ ...nano, ...small, vision });
const policy = createLocalPolicy({ device, model, processor, seed });
const optimizer = adamw.create({ weightDecay: 0, maxGradNorm: 1 });
const learningRate = 2e-3;

/** A chat turn with the image; its last token predicts the answer. */
const encodePrompt = async ({ png }: { png: Uint8Array }) =>
  processor.encodePrompt([{ kind: 'image', image: await processor.prepareImage(png) }]);

/** Answers of one token to a prompt, which the engine computes once for all of them. */
async function sample(prompt: EncodedContent, key: string, count: number, temperature: number) {
  const sharedPrefix = { key, length: prompt.tokens.length };
  const request = { ...prompt, maxTokens: 1, stop: [], temperature, sharedPrefix };
  const stream = randomAt(seed, 'answers', key).integer(2 ** 31);
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, g) => {
      const conversation = `${key}/${g}`;
      const answer = await policy.sample({ ...request, seed: [stream, g], conversation });
      policy.release(conversation);
      return { text: answer.text, token: answer.tokens[0] ?? 0 };
    }),
  );
  policy.release(key);
  return answers;
}

/**
 * The batch in which each of the prompts is followed by its share of the answers. Nothing follows an
 * answer of one token, so it is only predicted: by the last token of its prompt, which is a row once
 * per answer. Longer answers would be segments of their own, with the prompt as their parent.
 */
function pack(prompts: readonly EncodedContent[], answers: readonly number[]): PackedBatch {
  let end = 0;
  const rows = prompts.flatMap(({ tokens }) => {
    end += tokens.length;
    return Array<number>(answers.length / prompts.length).fill(end - 1);
  });
  const segments = prompts.map((prompt) => ({ ...prompt, parent: -1 }));
  return { segments, rows: Int32Array.from(rows), targets: Int32Array.from(answers) };
}

/** Share of 200 held-out images that the policy names rightly; temperature 0 is its first choice. */
async function heldOutAccuracy() {
  const tasks = drawTasks(200, 'held out');
  const prompts = await Promise.all(tasks.map(encodePrompt));
  const answers = await Promise.all(prompts.map((prompt, i) => sample(prompt, `test ${i}`, 1, 0)));
  return answers.filter(([answer], i) => answer?.text === tasks[i]?.name).length / tasks.length;
}

// 3. THE COLD START teaches what an answer looks like, not which one is right: its targets are
// guesses. Without it one answer in 280 would be right, and most groups would hold no reward.
//
//   L = −Σ logprob(guess) / P

for (let update = 0; update < 25; update++) {
  const prompts = await Promise.all(drawTasks(P, 'cold start', update).map(encodePrompt));
  const random = randomAt(seed, 'guesses', update);
  const guesses = prompts.map(() => names[random.integer(names.length)] ?? '');
  const targets = guesses.flatMap((name) => [...processor.encodeModelText(name, false)]);
  const lossMask = new Float64Array(P).fill(1);
  await policy.forwardBackward(pack(prompts, targets), ({ logprobs }) =>
    negativeLogLikelihood({ logprobs, lossMask }, { tokens: P }),
  );
  await policy.optimizerStep({ optimizer, learningRate });
}
policy.resetOptimizer(); // its moments are those of another loss
console.log(`before: held-out accuracy ${(await heldOutAccuracy()).toFixed(3)}`);

// 4. REINFORCEMENT LEARNING

const start = performance.now();
for (let step = 1; step <= steps; step++) {
  // Sample G answers to each of P new images, at temperature 1, from the policy as it is.
  const tasks = drawTasks(P, 'train', step);
  const prompts = await Promise.all(tasks.map(encodePrompt));
  const groups = await Promise.all(
    prompts.map((prompt, p) => sample(prompt, `${step}/${p}`, G, 1)),
  );

  // Reward the name of the right quarter with 1, and anything else with 0.
  const rewards = groups.map((group, p) =>
    Float64Array.from(group, ({ text }) => (text === tasks[p]?.name ? 1 : 0)),
  );

  // Advantages: how much better an answer is than its group. Where all rewards are equal, they are 0.
  //
  //   Aᵢ = (rᵢ − mean(r)) / std(r)                              DeepSeekMath, arXiv:2402.03300, §4.1
  const advantages = rewards.flatMap((own) => [...grpo.groupAdvantages({ rewards: own })]);

  // Score the answers before the first update. The policy sampled them itself, so these are the
  // log-probs that it recorded; those of an engine in another program would be rounded differently.
  const batch = pack(
    prompts,
    groups.flat().map(({ token }) => token),
  );
  const { logprobs: oldLogprobs } = await policy.score(batch);

  const constants = {
    oldLogprobs,
    advantages: Float64Array.from(advantages),
    lossMask: new Float64Array(N).fill(1), // every token is the policy's own
    sequenceOffsets: Int32Array.from({ length: N + 1 }, (_, i) => i), // of one token each
  };
  const counts = countGlobally([constants]);
  let metrics: Readonly<Record<string, number>> = {};
  for (let update = 0; update < updates; update++) {
    // Loss: ρ is 1 in the first update. In the second, the clip stops answers that have already
    // become much likelier, or much less likely, from moving further.
    //
    //   ρ = exp(logprob − oldLogprob),   L = −Σ min(ρ·A, clip(ρ, 1−ε, 1+ε)·A) / N         eq. 3
    //
    // Backward: the algorithm gives ∂L/∂logprob, and the policy carries it on to every weight.
    await policy.forwardBackward(batch, (scores) => {
      const result = grpo.loss({ ...constants, ...scores }, counts);
      metrics = finishMetrics([result.metrics], counts);
      return result;
    });
    // Step: the weights move, and the answers of the next step come from the new policy.
    await policy.optimizerStep({ optimizer, learningRate });
  }

  if (step % 10 > 0) continue;
  const reward = rewards.reduce((sum, own) => own.reduce((a, b) => a + b, sum), 0) / N;
  const [kl, entropy] = [metrics['approx_kl/k3'], metrics.entropy].map((one) => one?.toFixed(4));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `step ${step}: reward ${reward.toFixed(3)}, KL ${kl}, entropy ${entropy}, ${seconds} s`,
  );
}
console.log(`after: held-out accuracy ${(await heldOutAccuracy()).toFixed(3)}`);
policy.dispose();
device.dispose();
