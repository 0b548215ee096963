/** Numbers of a table, as short as they stay comparable. */

/** Three significant digits. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const digits = 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  return value.toFixed(Math.min(Math.max(digits, 0), 4));
}

/** The mark of a ratio whose p20–p80 is wider than its distance from 1. */
const UNDECIDED = '≈';

/** Explains the mark, where a table has it. */
export function noteOfUndecided(ratios: readonly { readonly isDecided: boolean }[]): string[] {
  if (ratios.every(({ isDecided }) => isDecided)) return [];
  return [`${UNDECIDED} not decided: p20–p80 is wider than the difference from 1`];
}

/** `1.35×`; `≈ 1.35×` where it is not decided. */
export function formatRatio(ratio: {
  readonly median: number;
  readonly isDecided: boolean;
}): string {
  return `${ratio.isDecided ? '' : `${UNDECIDED} `}${threeDigits(ratio.median)}×`;
}

/** Seconds in the unit that fits: `12.3 µs`, `4.56 ms`, `7.89 s`. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 1e-3) return `${threeDigits(seconds * 1e6)} µs`;
  return seconds < 1 ? `${threeDigits(seconds * 1e3)} ms` : `${threeDigits(seconds)} s`;
}

/** Both ends in the unit of the larger. */
export function formatRange(low: number, high: number): string {
  const end = formatSeconds(high);
  const factor = end.endsWith('µs') ? 1e6 : end.endsWith('ms') ? 1e3 : 1;
  return `${threeDigits(low * factor)}–${end}`;
}

export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return '–';
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${threeDigits(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${threeDigits(bytes / 1e6)} MB` : `${threeDigits(bytes / 1e9)} GB`;
}

export function formatPercent(share: number): string {
  return Number.isFinite(share) ? `${Math.round(100 * share)} %` : '–';
}
