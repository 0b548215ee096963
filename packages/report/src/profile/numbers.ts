/** Numbers of a profile as people read them. */
import { type ProfiledSpan, secondsOf } from '@saccade/core';

/** Seconds with three digits: `0.012`, `1.23`, `45.6`, `789`. */
export function formatSeconds(seconds: number): string {
  if (seconds >= 99.95) return seconds.toFixed(0);
  if (seconds >= 9.995) return seconds.toFixed(1);
  return seconds.toFixed(seconds >= 0.9995 ? 2 : 3);
}

/** `12.3 %`. */
export function formatShare(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** A span in words: its share of the whole, its seconds and how often it was entered. */
export function describeSpan(span: ProfiledSpan, wholeSeconds: number): string {
  const seconds = secondsOf(span);
  const share = wholeSeconds > 0 ? seconds / wholeSeconds : 0;
  const parts = [`${formatShare(share)}, ${formatSeconds(seconds)} s`];
  if (span.count > 0) parts.push(`${span.count.toLocaleString('en')} times`);
  if (span.inFlightSeconds !== undefined) {
    parts.push(`${formatSeconds(span.inFlightSeconds)} s in flight`);
  }
  return parts.join(', ');
}
