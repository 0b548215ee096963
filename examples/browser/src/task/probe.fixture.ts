/** How well images tell their labels: a linear probe, or a network of one hidden layer. */
import { type Random, randomAt } from '@saccade/core';

/** Numbers of an image, and its class. */
export interface Example {
  readonly features: Float64Array;
  readonly label: number;
}

export interface ProbeOptions {
  readonly classes: number;
  /** Units between input and output; 0 for a linear probe. */
  readonly hidden: number;
}

const EPOCHS = 8;
const RATE = 0.003;
const DECAY = 0.01;

/** Accuracy on tests after gradient descent on the cross-entropy of the training examples. */
export function probe(
  training: readonly Example[],
  tests: readonly Example[],
  { classes, hidden }: ProbeOptions,
): number {
  const [learned, unseen] = standardized(training, tests);
  const random = randomAt(0, 'probe', hidden);
  const inputs = learned[0]?.features.length ?? 0;
  const first = hidden > 0 ? new Layer(hidden, inputs, random) : undefined;
  const second = new Layer(classes, hidden > 0 ? hidden : inputs, random);
  const innerOf = (x: Float64Array) => first?.apply(x).map((value) => Math.max(0, value)) ?? x;
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { features, label } of random.shuffle([...learned])) {
      const inner = innerOf(features);
      const errors = softmax(second.apply(inner));
      errors[label] = (errors[label] ?? 0) - 1;
      const back = first && second.back(errors).map((g, i) => ((inner[i] ?? 0) > 0 ? g : 0));
      second.descend(errors, inner);
      if (back !== undefined) first?.descend(back, features);
    }
  }
  const right = unseen.filter(({ features, label }) => {
    const scores = second.apply(innerOf(features));
    return scores.indexOf(Math.max(...scores)) === label;
  });
  return right.length / unseen.length;
}

class Layer {
  readonly #weights: readonly Float64Array[];

  constructor(rows: number, columns: number, random: Random) {
    const scale = 1 / Math.sqrt(columns);
    this.#weights = Array.from({ length: rows }, () =>
      Float64Array.from({ length: columns }, () => (random.uniform() - 0.5) * scale),
    );
  }

  apply(x: Float64Array): Float64Array {
    return Float64Array.from(this.#weights, (row) => {
      let sum = 0;
      for (let i = 0; i < row.length; i++) sum += (row[i] ?? 0) * (x[i] ?? 0);
      return sum;
    });
  }

  /** Gradient by the input. */
  back(gradients: Float64Array): Float64Array {
    const out = new Float64Array(this.#weights[0]?.length ?? 0);
    for (const [r, row] of this.#weights.entries()) {
      for (let i = 0; i < row.length; i++) {
        out[i] = (out[i] ?? 0) + (row[i] ?? 0) * (gradients[r] ?? 0);
      }
    }
    return out;
  }

  descend(gradients: Float64Array, x: Float64Array): void {
    for (const [r, row] of this.#weights.entries()) {
      const step = RATE * (gradients[r] ?? 0);
      for (let i = 0; i < row.length; i++) {
        row[i] = (row[i] ?? 0) * (1 - RATE * DECAY) - step * (x[i] ?? 0);
      }
    }
  }
}

function softmax(scores: Float64Array): Float64Array {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** Both with features of mean 0 and variance 1 over the training examples. */
function standardized(training: readonly Example[], tests: readonly Example[]) {
  const count = training[0]?.features.length ?? 0;
  const mean = new Float64Array(count);
  const square = new Float64Array(count);
  for (const { features } of training) {
    features.forEach((value, i) => {
      mean[i] = (mean[i] ?? 0) + value / training.length;
      square[i] = (square[i] ?? 0) + value ** 2 / training.length;
    });
  }
  const scaled = ({ features, label }: Example): Example => {
    const deviation = (i: number) =>
      Math.sqrt(Math.max(1e-6, (square[i] ?? 0) - (mean[i] ?? 0) ** 2));
    return { label, features: features.map((value, i) => (value - (mean[i] ?? 0)) / deviation(i)) };
  };
  return [training.map(scaled), tests.map(scaled)] as const;
}
