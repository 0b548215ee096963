/** The effects of moving an image's pixels, whichever library does it. */
import {
  type Affine,
  areaOf,
  type Box,
  fromCrop,
  fromHalfTurn,
  fromHorizontalFlip,
  fromQuarterTurn,
  fromScale,
  fromThreeQuarterTurn,
  fromTranspose,
  fromTurn,
  fromVerticalFlip,
  intersection,
} from '../geometry.ts';
import type { Change, Session } from '../interpreter/session.ts';
import { type ImageValue, PythonError } from '../interpreter/values.ts';
import type { BoxProblem } from '../operation.ts';
import type { OperationKind } from '../operation-kind.ts';

export interface CallSite {
  /** The function or method that was called, e.g. `Image.crop`. */
  readonly call: string;
  readonly line: number;
}

/** Runs an operation: makes its output and records it. */
export function operate(
  session: Session,
  site: CallSite,
  kind: OperationKind,
  input: ImageValue,
  change: Change = {},
  numbers: readonly (number | undefined)[] = [],
): ImageValue {
  const output = session.derive(input, change);
  session.record({ ...site, kind, input, output, numbers });
  return output;
}

export function sizeOf({ image }: ImageValue): readonly [number, number] | undefined {
  const { width, height } = image;
  return width === undefined || height === undefined ? undefined : [width, height];
}

/**
 * Cuts a box out.
 *
 * @param box what the library takes, whole pixels; undefined where it is not known
 * @param raises whether the library refuses a box whose sides are swapped, as Pillow does
 */
export function crop(
  session: Session,
  site: CallSite,
  input: ImageValue,
  box: Box | undefined,
  options: { readonly raises: boolean },
): ImageValue {
  if (box === undefined) {
    return operate(session, site, 'crop', input, { size: 'unknown', toInput: 'lost' });
  }
  const [left, top, right, bottom] = box;
  const boxProblem = problemOf(box, sizeOf(input));
  if (boxProblem === 'inverted' && options.raises) {
    session.record({ ...site, kind: 'crop', input, numbers: box, box, boxProblem });
    throw new PythonError('ValueError', 'the box of crop has swapped sides');
  }
  const output = session.derive(input, {
    // Whole, also where a box is around a center between pixels.
    size: [Math.max(0, Math.round(right - left)), Math.max(0, Math.round(bottom - top))],
    toInput: fromCrop(left, top),
  });
  const problem = boxProblem === undefined ? {} : { boxProblem };
  session.record({ ...site, kind: 'crop', input, output, numbers: box, box, ...problem });
  return output;
}

function problemOf(box: Box, size: readonly [number, number] | undefined): BoxProblem | undefined {
  const [left, top, right, bottom] = box;
  if (right < left || bottom < top) return 'inverted';
  if (areaOf(box) === 0) return 'empty';
  if (size === undefined) return left < 0 || top < 0 ? 'overhanging' : undefined;
  const inside = areaOf(intersection(box, [0, 0, ...size]));
  if (inside === 0) return 'outside';
  return inside < areaOf(box) ? 'overhanging' : undefined;
}

export type Orientation =
  | 'rotate_90'
  | 'rotate_180'
  | 'rotate_270'
  | 'flip_horizontal'
  | 'flip_vertical'
  | 'transpose'
  | 'transverse';

/** The change of a turn or flip that moves whole pixels. */
function orientationChange(input: ImageValue, kind: Orientation): Change {
  const size = sizeOf(input);
  if (size === undefined) return { size: 'unknown', toInput: 'lost' };
  const [width, height] = size;
  const swapped = [height, width] as const;
  switch (kind) {
    case 'rotate_90':
      return { size: swapped, toInput: fromQuarterTurn(width) };
    case 'rotate_180':
      return { toInput: fromHalfTurn(width, height) };
    case 'rotate_270':
      return { size: swapped, toInput: fromThreeQuarterTurn(height) };
    case 'flip_horizontal':
      return { toInput: fromHorizontalFlip(width) };
    case 'flip_vertical':
      return { toInput: fromVerticalFlip(height) };
    case 'transpose':
      return { size: swapped, toInput: fromTranspose };
    case 'transverse':
      return { size: swapped, toInput: [0, -1, width, -1, 0, height] };
  }
}

export function orient(
  session: Session,
  site: CallSite,
  input: ImageValue,
  kind: Orientation,
): ImageValue {
  return operate(session, site, kind, input, orientationChange(input, kind));
}

/** Quarter turns counter-clockwise, any whole number of them. */
export function quarterTurns(
  session: Session,
  site: CallSite,
  input: ImageValue,
  turns: number | undefined,
): ImageValue {
  if (turns === undefined) {
    return operate(session, site, 'rotate', input, { size: 'unknown', toInput: 'lost' });
  }
  const count = ((turns % 4) + 4) % 4;
  const kind = ([undefined, 'rotate_90', 'rotate_180', 'rotate_270'] as const)[count];
  if (kind !== undefined) return orient(session, site, input, kind);
  const output = session.derive(input);
  session.record({ ...site, kind: 'rotate', input, output, numbers: [0], isIdentity: true });
  return output;
}

/** The kind of a turn by an angle, counter-clockwise in degrees. */
export function turnKind({ thresholds }: Session, degrees: number): OperationKind {
  const angle = ((degrees % 360) + 360) % 360;
  for (const quarter of [90, 180, 270] as const) {
    if (Math.abs(angle - quarter) <= thresholds.quarterDegrees) return `rotate_${quarter}`;
  }
  return 'rotate';
}

/** A turn as Pillow makes it. */
export function turn(
  session: Session,
  site: CallSite,
  input: ImageValue,
  degrees: number | undefined,
  options: { expand: boolean; isMoved: boolean; center?: readonly [number, number] | undefined },
): ImageValue {
  const size = sizeOf(input);
  if (degrees === undefined) {
    return operate(session, site, 'rotate', input, { size: 'unknown', toInput: 'lost' });
  }
  const angle = ((degrees % 360) + 360) % 360;
  const { expand, isMoved, center } = options;
  const kind = turnKind(session, degrees);
  if (size === undefined || isMoved) {
    const change: Change = expand ? { size: 'unknown', toInput: 'lost' } : { toInput: 'lost' };
    return operate(session, site, kind, input, change, [degrees]);
  }
  if (center === undefined && angle === 0) {
    const output = session.derive(input);
    session.record({ ...site, kind, input, output, numbers: [degrees], isIdentity: true });
    return output;
  }
  const isQuarter = angle === 90 || angle === 270;
  if (center === undefined && angle % 90 === 0) {
    if (!isQuarter || expand || size[0] === size[1]) {
      const change = orientationChange(input, kind as Orientation);
      return operate(session, site, kind, input, change, [degrees]);
    }
  }
  const [width, height] = size;
  const turned = fromTurn(width, height, degrees, {
    expand,
    ...(center !== undefined && { center }),
  });
  const change: Change = { size: [turned.width, turned.height], toInput: turned.map };
  return operate(session, site, kind, input, change, [degrees]);
}

/** Other sides for the same pixels, or for those of a box in them. */
export function resize(
  session: Session,
  site: CallSite,
  input: ImageValue,
  sides: readonly [number, number] | undefined,
  box?: Box,
): ImageValue {
  const size = sizeOf(input);
  if (sides === undefined || sides[0] <= 0 || sides[1] <= 0) {
    return operate(session, site, 'resize', input, { size: 'unknown', toInput: 'lost' });
  }
  const from = box ?? (size && ([0, 0, ...size] as const));
  const toInput: Affine | 'lost' =
    from === undefined
      ? 'lost'
      : fromScale((from[2] - from[0]) / sides[0], (from[3] - from[1]) / sides[1], from[0], from[1]);
  const output = session.derive(input, { size: sides, toInput });
  const isIdentity = box === undefined && size?.[0] === sides[0] && size[1] === sides[1];
  session.record({ ...site, kind: 'resize', input, output, numbers: sides, isIdentity });
  return output;
}
