/** numpy arrays that hold images: rows first, then columns, then channels. */
import type { Affine, Box } from '../geometry.ts';
import { indexPlain, settleSlice } from '../interpreter/operators.ts';
import type { Call, Library } from '../interpreter/runtime.ts';
import type { Session } from '../interpreter/session.ts';
import {
  type ImageValue,
  isFollowed,
  list,
  none,
  number,
  numberOf,
  numbersOf,
  type SequenceValue,
  unknown,
  type Value,
} from '../interpreter/values.ts';
import { type CallSite, crop, operate, orient, quarterTurns, sizeOf } from './images.ts';

const reductions = new Set(
  (
    'mean std var sum min max median average percentile quantile argmax argmin count_nonzero unique ' +
    'nonzero any all ptp bincount corrcoef cov nanmean argwhere amin amax cumsum diff gradient'
  ).split(' '),
);

const sameShape = new Set(
  (
    'astype copy array asarray ascontiguousarray asanyarray uint8 uint16 int16 int32 float32 float64 ' +
    'clip abs absolute round rint squeeze view nan_to_num fliped byte require float_ int_ single double'
  ).split(' '),
);

export const numpy: Library = {
  modules: ['numpy'],
  call(path, call) {
    const name = path.split('.').at(-1) ?? '';
    const [first] = call.args.positional;
    if (first?.kind === 'image') {
      return callOn(first, name, { ...call, args: call.args.rest() }, `np.${name}`);
    }
    return callPlain(name, call);
  },
  callMethod(self, name, call) {
    if (self.kind === 'sequence' && (name === 'ravel' || name === 'flatten')) return flat(self);
    if (self.kind === 'sequence' && (name === 'astype' || name === 'tolist')) return self;
    if (self.kind !== 'image') return undefined;
    if (/^[^\w]/.test(name)) return arithmetic(self, name, call);
    if (self.image.form !== 'array') return undefined;
    return callOn(self, name, call, `ndarray.${name}`);
  },
  attribute(self, name, session, line) {
    if (self.kind === 'sequence' && name === 'flat') return flat(self);
    if (self.kind !== 'image' || self.image.form !== 'array') return undefined;
    const size = sizeOf(self);
    const [width, height] =
      size === undefined ? [unknown, unknown] : size.map((side) => number(side));
    if (name === 'shape') {
      const items = [height ?? unknown, width ?? unknown, unknown];
      return { kind: 'sequence', items, isTuple: true, isShape: true };
    }
    if (name === 'T') return orient(session, { call: 'ndarray.T', line }, self, 'transpose');
    return ['size', 'ndim', 'dtype', 'nbytes', 'flat'].includes(name) ? unknown : undefined;
  },
  index(self, indices, session, line) {
    if (self.kind === 'sequence' && indices.length > 1) {
      return indices.reduce((inner, index) => indexPlain(inner, index), self as Value);
    }
    if (self.kind !== 'image' || self.image.form !== 'array') return undefined;
    return sliceImage(self, indices, session, { call: '[]', line });
  },
};

function flat(sequence: SequenceValue): Value {
  const count = sequence.items.reduce(
    (sum, item) => sum + (item.kind === 'sequence' ? item.items.length : 1),
    0,
  );
  if (!isFollowed(count)) return unknown;
  return list(sequence.items.flatMap((item) => (item.kind === 'sequence' ? item.items : [item])));
}

/** Functions of numpy on numbers and lists. */
function callPlain(name: string, { session, args }: Call): Value | undefined {
  const [first, second] = args.positional;
  const value = numberOf(first);
  const known: Readonly<Record<string, (of: number) => number>> = {
    floor: Math.floor,
    ceil: Math.ceil,
    sqrt: Math.sqrt,
    abs: Math.abs,
    radians: (degrees) => (degrees * Math.PI) / 180,
    deg2rad: (degrees) => (degrees * Math.PI) / 180,
    cos: Math.cos,
    sin: Math.sin,
  };
  const apply = known[name];
  if (apply !== undefined && value !== undefined) return number(apply(value), false);
  if (/^(int|uint|float)\d*_?$/.test(name) && value !== undefined) {
    return name.includes('int') ? number(Math.trunc(value), true) : number(value, false);
  }
  if (first?.kind === 'sequence' && sameShape.has(name)) return first;
  const numbers = numbersOf(first);
  if (numbers !== undefined && numbers.length > 0) {
    if (name === 'min' || name === 'amin') return number(Math.min(...numbers));
    if (name === 'max' || name === 'amax') return number(Math.max(...numbers));
    if (name === 'sum') return number(numbers.reduce((sum, item) => sum + item, 0));
  }
  if (name === 'clip' && value !== undefined) {
    const [low, high] = [numberOf(second), args.number(2, 'a_max')];
    if (low !== undefined && high !== undefined)
      return number(Math.min(high, Math.max(low, value)));
  }
  if (name === 'arange') {
    const bounds = args.positional.map(numberOf);
    const [a = 0, b, step = 1] = bounds as number[];
    if (bounds.includes(undefined)) return unknown;
    const [start, end] = b === undefined ? [0, a] : [a, b];
    const count = Math.max(0, Math.ceil((end - start) / step));
    return count > 512
      ? unknown
      : list(Array.from({ length: count }, (_, i) => number(start + i * step)));
  }
  if (/^(zeros|ones|full|empty)$/.test(name)) {
    const [height, width] = numbersOf(first) ?? [];
    return width === undefined ? unknown : session.blank('array', width, height);
  }
  const images = first?.kind === 'sequence' ? first.items : [];
  const image = images.find((item): item is ImageValue => item.kind === 'image');
  if (image !== undefined && /stack$|^concatenate$/.test(name)) {
    const allOne = images.every(
      (item) => item.kind === 'image' && item.image.id === image.image.id,
    );
    if (allOne && /^(stack|dstack)$/.test(name)) return session.alias(image);
    return operate(session, { call: `np.${name}`, line: 0 }, 'composite', image, {
      size: 'unknown',
      toInput: 'lost',
    });
  }
  return unknown;
}

/** A function or method on an array, without the array among the arguments. */
function callOn(
  self: ImageValue,
  name: string,
  { session, args, line }: Call,
  callName: string,
): Value | undefined {
  const site: CallSite = { call: callName, line };
  if (sameShape.has(name)) return session.alias(self, 'array');
  if (reductions.has(name)) {
    session.record({ ...site, kind: 'numerical_analysis', input: self });
    return unknown;
  }
  switch (name) {
    case 'rot90': {
      const k = args.get(0, 'k');
      const axes = numbersOf(args.get(1, 'axes'));
      const turns = k === undefined ? 1 : numberOf(k);
      const isClockwise = axes !== undefined && axes[0] === 1 && axes[1] === 0;
      return quarterTurns(session, site, self, isClockwise && turns !== undefined ? -turns : turns);
    }
    case 'fliplr':
      return orient(session, site, self, 'flip_horizontal');
    case 'flipud':
      return orient(session, site, self, 'flip_vertical');
    case 'flip': {
      const given = args.get(0, 'axis');
      const axes = numbersOf(given) ?? [numberOf(given)];
      if (given === undefined || given.kind === 'none')
        return orient(session, site, self, 'rotate_180');
      if (axes.length === 2 && axes.includes(0) && axes.includes(1)) {
        return orient(session, site, self, 'rotate_180');
      }
      if (axes[0] === 0) return orient(session, site, self, 'flip_vertical');
      if (axes[0] === 1) return orient(session, site, self, 'flip_horizontal');
      if (axes[0] === 2 || axes[0] === -1) return session.alias(self, 'array');
      return operate(session, site, 'rotate', self, { toInput: 'lost' });
    }
    case 'transpose':
    case 'swapaxes': {
      const axes = numbersOf(args.get(0, 'axes')) ?? args.positional.map(numberOf);
      const isSwapped =
        name === 'swapaxes'
          ? axes.includes(0) && axes.includes(1)
          : axes.length === 0 || (axes[0] === 1 && axes[1] === 0);
      if (isSwapped) return orient(session, site, self, 'transpose');
      return axes[0] === 0 && axes[1] === 1 ? session.alias(self) : unknown;
    }
    case 'histogram':
      session.record({ ...site, kind: 'histogram', input: self });
      return unknown;
    case 'pad':
      return operate(session, site, 'pad', self, { size: 'unknown', toInput: 'lost' });
    case 'roll':
      return operate(session, site, 'warp', self, { toInput: 'lost' });
    case 'repeat':
    case 'kron':
    case 'resize':
      return operate(session, site, 'resize', self, { size: 'unknown', toInput: 'lost' });
    case 'zeros_like':
    case 'ones_like':
    case 'full_like':
    case 'empty_like':
      return session.blank('array', self.image.width, self.image.height);
    case 'dot':
      return operate(session, site, 'grayscale', self);
    case 'add':
    case 'subtract':
    case 'multiply':
    case 'power':
      return operate(session, site, 'arithmetic', self);
    case 'invert':
    case 'bitwise_not':
      return operate(session, site, 'invert', self);
    case 'sort':
    case 'fill':
      return none;
    default:
      return unknown;
  }
}

/** `array * 1.5`, `255 - array`: brightness by a number, anything else by another image. */
function arithmetic(self: ImageValue, operator: string, { session, args, line }: Call): Value {
  const [left, right] = args.positional;
  const site = { call: operator, line };
  if (!['+', '-', '*', '/', '**', '//', '&', '|', '^', '%'].includes(operator)) return unknown;
  if (left?.kind === 'image' && right?.kind === 'image') {
    return operate(session, site, 'arithmetic', self, { form: 'array' });
  }
  const factor = numberOf(left?.kind === 'image' ? right : left);
  if (left?.kind !== 'image' && operator === '-') {
    return operate(session, site, 'invert', self, {}, [factor]);
  }
  if (factor === undefined) return operate(session, site, 'arithmetic', self);
  if (operator === '*' && factor !== 1 && factor !== 255) {
    return operate(session, site, factor > 1 ? 'brightness_up' : 'brightness_down', self, {}, [
      factor,
    ]);
  }
  if (operator === '+' || operator === '-') {
    const isUp = factor > 0 === (operator === '+');
    return operate(session, site, isUp ? 'brightness_up' : 'brightness_down', self, {}, [factor]);
  }
  // Division brings pixels to 0..1, which is no change to look at.
  return session.alias(self);
}

interface Axis {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** `array[y0:y1, x0:x1]` with any step: a crop, a flip, a smaller image, or several of these. */
function sliceImage(
  self: ImageValue,
  indices: readonly Value[],
  session: Session,
  site: CallSite,
): Value {
  const spread = indices.flatMap((index): readonly Value[] => {
    if (index.kind !== 'ellipsis') return [index];
    // `[..., 0]` and `[..., ::-1]` are about channels.
    return Array.from({ length: Math.max(0, 4 - indices.length) }, () => full);
  });
  const [rows = full, columns = full] = spread;
  if (rows.kind !== 'slice' || columns.kind !== 'slice') return unknown;
  const size = sizeOf(self);
  if (isFull(rows) && isFull(columns)) return session.alias(self);
  const y = settleAxis(rows, size?.[1]);
  const x = settleAxis(columns, size?.[0]);
  if (x === undefined || y === undefined) {
    return crop(session, site, self, undefined, { raises: false });
  }
  const [left, right] = covered(x);
  const [top, bottom] = covered(y);
  const isWhole =
    size !== undefined && left === 0 && top === 0 && right === size[0] && bottom === size[1];
  const hasSteps = x.step !== 1 || y.step !== 1;
  let current = self;
  if (!isWhole || !hasSteps) {
    const box: Box = [left, top, right, bottom];
    current = crop(session, site, self, box, { raises: false });
  }
  if (x.step < 0 && y.step < 0) current = orient(session, site, current, 'rotate_180');
  else if (x.step < 0) current = orient(session, site, current, 'flip_horizontal');
  else if (y.step < 0) current = orient(session, site, current, 'flip_vertical');
  const [strideX, strideY] = [Math.abs(x.step), Math.abs(y.step)];
  if (strideX === 1 && strideY === 1) return current;
  const sides = [Math.ceil((right - left) / strideX), Math.ceil((bottom - top) / strideY)] as const;
  const toInput: Affine = [strideX, 0, 0, 0, strideY, 0];
  return operate(session, site, 'resize', current, { size: sides, toInput }, sides);
}

const full: Value & { kind: 'slice' } = { kind: 'slice', lower: none, upper: none, step: none };

function isFull(slice: Value & { kind: 'slice' }): boolean {
  return [slice.lower, slice.upper, slice.step].every(({ kind }) => kind === 'none');
}

/** Where a slice starts and ends; without the length only if it does not depend on it. */
function settleAxis(
  slice: Value & { kind: 'slice' },
  length: number | undefined,
): Axis | undefined {
  if (length !== undefined) return settleSlice(slice, length);
  const [start, end] = [numberOf(slice.lower), numberOf(slice.upper)];
  const from = slice.lower.kind === 'none' ? 0 : start;
  if (from === undefined || end === undefined || from < 0 || end < 0) return undefined;
  return slice.step.kind === 'none' ? { start: from, end, step: 1 } : undefined;
}

/** First pixel and the one behind the last, whichever way the slice runs. */
function covered({ start, end, step }: Axis): readonly [number, number] {
  if (step > 0) return [start, Math.max(start, end)];
  const first = Math.min(start, end) + 1;
  return [first, Math.max(first, start + 1)];
}
