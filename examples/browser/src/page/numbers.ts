/** How numbers are written, and where the ticks of an axis stand. */

/** Round numbers (1, 2 or 5 times a power of ten) that cover low…high, about `count` of them. */
export function roundTicks(low: number, high: number, count: number): readonly number[] {
  const to = high > low ? high : low + 1;
  const raw = (to - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= raw * (1 - 1e-9)) ?? 10);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(to / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toFixed(12)),
  );
}

/** Mean of the values around each, as many before as after, so that a curve is not shifted. */
export function smooth(values: readonly number[], reach: number): readonly number[] {
  return values.map((_, index) => {
    const side = Math.min(reach, index, values.length - 1 - index);
    const near = values.slice(index - side, index + side + 1);
    return near.reduce((sum, other) => sum + other, 0) / near.length;
  });
}

/** Three significant digits, no trailing zeros. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const text = Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
  return text.replace(/^-/, '−');
}

export function formatPercent(share: number): string {
  return Number.isFinite(share) ? `${Math.round(100 * share)} %` : '–';
}

/** Seconds as people say them: `42 s`, `7 min 5 s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
