/** A line through measured times. */

/** Packed tokens and seconds of learning of a step. */
export interface LearningPoint {
  readonly tokens: number;
  readonly seconds: number;
}

/** Least squares of seconds = fixed + slope · tokens with neither below 0. */
export function fitLine(points: readonly LearningPoint[]): { fixed: number; slope: number } {
  const mean = (of: (point: LearningPoint) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(({ tokens }) => tokens), mean(({ seconds }) => seconds)];
  const varied = mean(({ tokens }) => (tokens - x) ** 2);
  const joint = mean(({ tokens, seconds }) => (tokens - x) * (seconds - y));
  const slope = varied > 0 ? joint / varied : y / x;
  if (slope < 0) return { fixed: y, slope: 0 };
  const fixed = y - slope * x;
  if (fixed >= 0) return { fixed, slope };
  const squares = mean(({ tokens }) => tokens ** 2);
  return { fixed: 0, slope: mean(({ tokens, seconds }) => tokens * seconds) / squares };
}
