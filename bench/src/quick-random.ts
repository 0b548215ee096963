/** Random numbers for benchmarks: normals from a table, because some cases need 300 million. */
import { type Random, randomAt } from '@saccade/core';

/** A prime, so that the rows of a matrix do not repeat. */
const TABLE = 65_521;

/** Like `randomAt`, but its normals come round again after 65 521 of them. */
export function quickRandom(seed: number, ...path: readonly (string | number)[]): Random {
  const random = randomAt(seed, ...path);
  const table = Float64Array.from({ length: TABLE }, () => random.normal());
  let next = 0;
  const normal = (): number => {
    next = next + 1 === TABLE ? 0 : next + 1;
    return table[next] as number;
  };
  return { ...random, normal };
}
