/** The parts of the standard library that positions are computed or files named with. */
import type { Library } from '../interpreter/runtime.ts';
import {
  boolean,
  number,
  numberOf,
  object,
  PythonError,
  text,
  unknown,
  type Value,
} from '../interpreter/values.ts';

const constants: Readonly<Record<string, number>> = {
  'math.pi': Math.PI,
  'math.e': Math.E,
  'numpy.pi': Math.PI,
};

const functions: Readonly<Record<string, (...values: number[]) => number>> = {
  sqrt: Math.sqrt,
  cos: Math.cos,
  sin: Math.sin,
  tan: Math.tan,
  atan2: Math.atan2,
  hypot: Math.hypot,
  radians: (degrees) => (degrees * Math.PI) / 180,
  degrees: (radians) => (radians * 180) / Math.PI,
  exp: Math.exp,
  log: Math.log,
  fabs: Math.abs,
  pow: (base, power) => base ** power,
};

const roundings: Readonly<Record<string, (value: number) => number>> = {
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
};

export const standard: Library = {
  modules: ['math', 'os', 'sys', 'io', 'base64', 'pathlib', 'copy', 'time', 'json', 're', 'random'],
  call(path, { args, session }): Value | undefined {
    const name = path.split('.').at(-1) ?? '';
    const [first] = args.positional;
    if (path.startsWith('math.')) {
      const numbers = args.positional.map(numberOf);
      if (numbers.includes(undefined)) return unknown;
      const rounding = roundings[name];
      if (rounding !== undefined) return number(rounding(numbers[0] as number), true);
      const apply = functions[name];
      return apply === undefined ? unknown : number(apply(...(numbers as number[])), false);
    }
    if (path === 'os.path.join') {
      const parts = args.positional.map((part) => (part.kind === 'text' ? part.value : undefined));
      return parts.includes(undefined) ? unknown : text(parts.join('/'));
    }
    if (path === 'os.path.exists') {
      // Only what this code saved is known to be there.
      return first?.kind === 'text' && session.files.has(first.value) ? boolean(true) : unknown;
    }
    if (path === 'sys.exit') throw new PythonError('SystemExit');
    if (path === 'copy.copy' || path === 'copy.deepcopy') {
      return first?.kind === 'image' ? session.alias(first) : (first ?? unknown);
    }
    if (path === 'io.BytesIO') return object('bytes');
    return unknown;
  },
  constant(path) {
    const value = constants[path];
    return value === undefined ? undefined : number(value, false);
  },
};
