/** Real roots of a function by looking for changes of sign and for values that touch zero. */

/** Between the first power of ten and the last, steps of one size would miss the small roots. */
function* grid(from: number, to: number): Iterable<number> {
  const span = to - from;
  if (span < 100) {
    for (let step = 0; step <= 2400; step++) yield from + (span * step) / 2400;
    return;
  }
  // Offsets keep roots that are round numbers off the grid.
  for (let at = 1e3; at > 20; at *= 0.995) yield -at;
  for (let step = 0; step <= 4000; step++) yield -20.0037 + step * 0.01;
  for (let at = 20; at < 1e3; at *= 1.005) yield at;
}

/** Sorted; each once. A root beyond ±1000 is not looked for. */
export function realRoots(value: (at: number) => number, from = -1e3, to = 1e3): readonly number[] {
  const roots: number[] = [];
  let [before, last, older]: [number, number, number] = [Number.NaN, Number.NaN, Number.NaN];
  let [beforeAt, olderAt] = [Number.NaN, Number.NaN];
  const add = (root: number | undefined): void => {
    if (root === undefined || root < from || root > to) return;
    if (!roots.some((known) => Math.abs(known - root) < 1e-7 * (1 + Math.abs(root))))
      roots.push(root);
  };
  for (const at of grid(from, to)) {
    last = value(at);
    if (last === 0) add(at);
    else if (before * last < 0) add(bisect(value, beforeAt, at));
    else if (Math.abs(before) < Math.abs(older) && Math.abs(before) < Math.abs(last)) {
      add(touch(value, olderAt, at));
    }
    [older, olderAt] = [before, beforeAt];
    [before, beforeAt] = [last, at];
  }
  return roots.map(rounded).sort((a, b) => a - b);
}

function bisect(value: (at: number) => number, from: number, to: number): number | undefined {
  let [low, high] = [from, to];
  const sign = Math.sign(value(low));
  for (let step = 0; step < 200 && high - low > Number.EPSILON * Math.abs(low); step++) {
    const middle = (low + high) / 2;
    const there = value(middle);
    if (there === 0) return middle;
    if (Math.sign(there) === sign) low = middle;
    else high = middle;
    if (middle === low && middle === high) break;
  }
  // A pole changes its sign too, but its values grow.
  const middle = (low + high) / 2;
  const isPole = !(
    Math.abs(value(middle)) <
    1e-3 * (1 + Math.abs(value(from)) + Math.abs(value(to)))
  );
  return isPole ? undefined : middle;
}

/** The least absolute value between two places, if it is zero. */
function touch(value: (at: number) => number, from: number, to: number): number | undefined {
  let [low, high] = [from, to];
  for (let step = 0; step < 120; step++) {
    const [a, b] = [low + (high - low) * 0.382, low + (high - low) * 0.618];
    if (Math.abs(value(a)) < Math.abs(value(b))) high = b;
    else low = a;
  }
  const middle = (low + high) / 2;
  return Math.abs(value(middle)) < 1e-12 ? middle : undefined;
}

/** Whole and short decimal roots without the trace of the search. */
function rounded(value: number): number {
  const short = Math.round(value * 1e6) / 1e6;
  return Math.abs(short - value) < 1e-9 ? short : value;
}
