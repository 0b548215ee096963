/**
 * Every optimizer once more, in float64 and from its paper's formula, on plain arrays. Nothing here
 * is shared with the package.
 */

export interface Weights {
  readonly shape: readonly number[];
  readonly values: Float64Array;
}

export type Gradients = Readonly<Record<string, Float64Array>>;

/** Steps weights in place. */
export type Oracle = (
  weights: Readonly<Record<string, Weights>>,
  gradients: Gradients,
  learningRate: number,
) => void;

type Settings = Readonly<Record<string, number | boolean | string>>;

const numberOf = (settings: Settings, key: string) => settings[key] as number;

function clipped(gradients: Gradients, maxNorm: number): Gradients {
  let sum = 0;
  for (const gradient of Object.values(gradients)) for (const g of gradient) sum += g * g;
  const factor = maxNorm === 0 ? 1 : Math.min(1, maxNorm / (Math.sqrt(sum) + 1e-6));
  return Object.fromEntries(
    Object.entries(gradients).map(([name, gradient]) => [name, gradient.map((g) => g * factor)]),
  );
}

/** Moments by name, zeros at first. */
function memory() {
  const kept = new Map<string, Float64Array>();
  return (key: string, length: number): Float64Array => {
    const found = kept.get(key) ?? new Float64Array(length);
    kept.set(key, found);
    return found;
  };
}

const isMatrix = (shape: readonly number[]) => shape.length === 2 && Math.min(...shape) > 1;

function decayOf(settings: Settings, shape: readonly number[]): number {
  const isDecaying = settings.decays === 'all' || isMatrix(shape);
  return isDecaying ? numberOf(settings, 'weightDecay') : 0;
}

/** arXiv:1711.05101, algorithm 2; `store` may round the moments after each step. */
function adamwOracle(
  settings: Settings,
  store: (moment: Float64Array, isSigned: boolean) => void = () => {},
): Oracle {
  const moments = memory();
  const [beta1, beta2] = [numberOf(settings, 'beta1'), numberOf(settings, 'beta2')];
  let t = 0;
  return (weights, gradients, rate) => {
    t++;
    for (const [name, g] of Object.entries(clipped(gradients, numberOf(settings, 'maxGradNorm')))) {
      const { values, shape } = weights[name] as Weights;
      const [m, v] = [moments(`m${name}`, g.length), moments(`v${name}`, g.length)];
      const decay = decayOf(settings, shape);
      g.forEach((gi, i) => {
        const mi = beta1 * (m[i] ?? 0) + (1 - beta1) * gi;
        const vi = beta2 * (v[i] ?? 0) + (1 - beta2) * gi * gi;
        const root = Math.sqrt(vi / (1 - beta2 ** t)) + numberOf(settings, 'eps');
        const old = values[i] ?? 0;
        values[i] = old - rate * (mi / (1 - beta1 ** t) / root + decay * old);
        m[i] = mi;
        v[i] = vi;
      });
      store(m, true);
      store(v, false);
    }
  };
}

/** The map as a tree: a sign bit, leading zeros that choose the power of ten, a fraction behind. */
function tree(isSigned: boolean): number[] {
  const bits = isSigned ? 7 : 8;
  const values = [0];
  for (let code = 1; code < 2 ** bits; code++) {
    const fractionBits = Math.floor(Math.log2(code));
    const fraction = (code - 2 ** fractionBits + 0.5) / 2 ** fractionBits;
    const magnitude = 10 ** -(bits - 1 - fractionBits) * (0.1 + 0.9 * fraction);
    values.push(magnitude, ...(isSigned ? [-magnitude] : []));
  }
  // The signed zero and the unsigned tree's smallest number give way to 1 and 0.
  return values.sort((a, b) => a - b);
}

/** The nearest value of the map times the largest magnitude of each block of 256. */
function roundBlocks(moment: Float64Array, map: readonly number[]): void {
  for (let start = 0; start < moment.length; start += 256) {
    const block = moment.subarray(start, start + 256);
    const scale = block.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    block.forEach((value, i) => {
      let nearest = 0;
      for (const entry of map) {
        if (Math.abs(entry * scale - value) < Math.abs(nearest * scale - value)) nearest = entry;
      }
      block[i] = nearest * scale;
    });
  }
}

function adamw8bitOracle(settings: Settings): Oracle {
  const unsigned = [...tree(false).filter((value) => value > 1e-7), 0, 1];
  const signed = [...tree(true), 1];
  return adamwOracle(settings, (moment, isSigned) => {
    if (moment.length < numberOf(settings, 'minSize')) return;
    roundBlocks(moment, isSigned ? signed : unsigned);
  });
}

/** torch.optim.SGD's documentation, algorithm. */
function sgdOracle(settings: Settings): Oracle {
  const buffers = memory();
  const momentum = numberOf(settings, 'momentum');
  return (weights, gradients, rate) => {
    for (const [name, g] of Object.entries(clipped(gradients, numberOf(settings, 'maxGradNorm')))) {
      const { values, shape } = weights[name] as Weights;
      const buffer = buffers(name, g.length);
      const decay = decayOf(settings, shape);
      g.forEach((gi, i) => {
        const penalized = gi + decay * (values[i] ?? 0);
        const b = momentum * (buffer[i] ?? 0) + penalized;
        buffer[i] = b;
        values[i] = (values[i] ?? 0) - rate * (settings.nesterov ? penalized + momentum * b : b);
      });
    }
  };
}

/** arXiv:2302.06675, algorithm 2. */
function lionOracle(settings: Settings): Oracle {
  const moments = memory();
  const [beta1, beta2] = [numberOf(settings, 'beta1'), numberOf(settings, 'beta2')];
  return (weights, gradients, rate) => {
    for (const [name, g] of Object.entries(clipped(gradients, numberOf(settings, 'maxGradNorm')))) {
      const { values, shape } = weights[name] as Weights;
      const m = moments(name, g.length);
      const decay = decayOf(settings, shape);
      g.forEach((gi, i) => {
        const mi = m[i] ?? 0;
        const old = values[i] ?? 0;
        values[i] = old - rate * (Math.sign(beta1 * mi + (1 - beta1) * gi) + decay * old);
        m[i] = beta2 * mi + (1 - beta2) * gi;
      });
    }
  };
}

type Matrix = number[][];

const transpose = (a: Matrix): Matrix =>
  (a[0] ?? []).map((_, j) => a.map((row) => row[j] as number));
const multiply = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) =>
    transpose(b).map((column) => row.reduce((s, x, k) => s + x * (column[k] ?? 0), 0)),
  );
const combine = (p: number, a: Matrix, q: number, b: Matrix): Matrix =>
  a.map((row, i) => row.map((x, j) => p * x + q * (b[i]?.[j] ?? 0)));

/** `zeropower_via_newtonschulz5` of github.com/KellerJordan/Muon, without its bfloat16. */
function newtonSchulz(update: Matrix, steps: number): Matrix {
  const isTall = update.length > (update[0]?.length ?? 0);
  let x = isTall ? transpose(update) : update;
  const norm = Math.sqrt(x.flat().reduce((sum, value) => sum + value * value, 0));
  x = combine(1 / Math.max(norm, 1e-7), x, 0, x);
  for (let step = 0; step < steps; step++) {
    const s = multiply(x, transpose(x));
    x = combine(3.4445, x, 1, multiply(combine(-4.775, s, 2.0315, multiply(s, s)), x));
  }
  return isTall ? transpose(x) : x;
}

/** Jordan et al. 2024 for matrices without `embed` in their names, AdamW for the rest. */
function muonOracle(settings: Settings): Oracle {
  const buffers = memory();
  const adam = adamwOracle({ ...settings, maxGradNorm: 0 });
  const momentum = numberOf(settings, 'momentum');
  return (weights, given, rate) => {
    const others: Record<string, Float64Array> = {};
    for (const [name, g] of Object.entries(clipped(given, numberOf(settings, 'maxGradNorm')))) {
      const { values, shape } = weights[name] as Weights;
      if (!isMatrix(shape) || name.includes('embed')) {
        others[name] = g;
        continue;
      }
      const [rows = 0, columns = 0] = shape;
      const buffer = buffers(name, g.length);
      const update = g.map((gi, i) => {
        const b = momentum * (buffer[i] ?? 0) + (1 - momentum) * gi;
        buffer[i] = b;
        return settings.nesterov ? (1 - momentum) * gi + momentum * b : b;
      });
      const matrix = Array.from({ length: rows }, (_, r) =>
        Array.from(update.subarray(r * columns, (r + 1) * columns)),
      );
      const factor =
        settings.scaling === 'keller'
          ? Math.sqrt(Math.max(1, rows / columns))
          : 0.2 * Math.sqrt(Math.max(rows, columns));
      const decay = decayOf(settings, shape);
      newtonSchulz(matrix, numberOf(settings, 'steps'))
        .flat()
        .forEach((x, i) => {
          values[i] = (values[i] ?? 0) - rate * (factor * x + decay * (values[i] ?? 0));
        });
    }
    adam(weights, others, rate * numberOf(settings, 'adamRate'));
  };
}

/** By the unit's name. */
export const oracles: Readonly<Record<string, (settings: Settings) => Oracle>> = {
  adamw: adamwOracle,
  'adamw-8bit': adamw8bitOracle,
  lion: lionOracle,
  muon: muonOracle,
  sgd: sgdOracle,
};
