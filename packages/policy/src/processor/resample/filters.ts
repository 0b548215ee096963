/** Resampling kernels, by the numbers that Pillow and `resample` in a checkpoint's files use. */
import { DataError } from '@saccade/core';

/** A symmetric kernel: its weight at a distance, which is 0 beyond `support`. */
interface Filter {
  readonly support: number;
  weight(distance: number): number;
}

/** Keys' cubic with a = −1/2. */
const bicubic: Filter = {
  support: 2,
  weight(distance) {
    const a = -0.5;
    const x = Math.abs(distance);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
  },
};

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

/** The sinc cut off by its own central lobe, three zeros wide. */
const lanczos: Filter = {
  support: 3,
  weight: (distance) => (distance >= -3 && distance < 3 ? sinc(distance) * sinc(distance / 3) : 0),
};

const bilinear: Filter = {
  support: 1,
  weight: (distance) => Math.max(0, 1 - Math.abs(distance)),
};

const filters: Readonly<Record<FilterName, Filter>> = { lanczos, bilinear, bicubic };

/** A kernel by name. */
export type FilterName = 'lanczos' | 'bilinear' | 'bicubic';

/** The kernel of a name. */
export function filterOf(name: FilterName): Filter {
  return filters[name];
}

const numbers: readonly (FilterName | undefined)[] = [undefined, 'lanczos', 'bilinear', 'bicubic'];

/** The kernel of Pillow's number. @throws DataError naming the file and `resample` */
export function filterOfNumber(number: unknown, file: string): FilterName {
  const name = typeof number === 'number' ? numbers[number] : undefined;
  if (name !== undefined) return name;
  throw new DataError(
    `${file}: resample must be 1 (lanczos), 2 (bilinear) or 3 (bicubic), is ` +
      `${JSON.stringify(number)}. Write or download it again.`,
  );
}

/** Pillow's number of a kernel. */
export function numberOfFilter(name: FilterName): number {
  return numbers.indexOf(name);
}
