/** OpenCV in Python: images are arrays, turns are clockwise by name, points have x first. */
import { type Affine, composeAffine, fromScale, invertAffine } from '../geometry.ts';
import { pythonRound } from '../interpreter/operators.ts';
import type { Call, Library } from '../interpreter/runtime.ts';
import type { Session } from '../interpreter/session.ts';
import {
  type ImageValue,
  list,
  none,
  number,
  numberOf,
  numbersOf,
  object,
  tuple,
  unknown,
  type Value,
} from '../interpreter/values.ts';
import type { OperationKind } from '../operation-kind.ts';
import {
  type CallSite,
  crop,
  type Orientation,
  operate,
  orient,
  resize,
  sizeOf,
} from './images.ts';
import { readSides } from './pillow.ts';
import { openFile } from './pillow-parts.ts';

const rotations: Readonly<Record<string, Orientation>> = {
  ROTATE_90_CLOCKWISE: 'rotate_270',
  ROTATE_180: 'rotate_180',
  ROTATE_90_COUNTERCLOCKWISE: 'rotate_90',
};

const rotationCodes = Object.values(rotations);

/** Functions that give an image of the same size. */
const filters: Readonly<Record<string, OperationKind>> = {
  GaussianBlur: 'gaussian_blur',
  medianBlur: 'median_blur',
  blur: 'blur',
  boxFilter: 'blur',
  bilateralFilter: 'smooth',
  fastNlMeansDenoising: 'smooth',
  fastNlMeansDenoisingColored: 'smooth',
  detailEnhance: 'detail',
  filter2D: 'filter',
  Canny: 'edge_detect',
  Sobel: 'edge_detect',
  Scharr: 'edge_detect',
  Laplacian: 'edge_detect',
  equalizeHist: 'equalize',
  bitwise_not: 'invert',
  erode: 'erode',
  dilate: 'dilate',
  morphologyEx: 'morphology',
  adaptiveThreshold: 'segmentation',
  inRange: 'segmentation',
  normalize: 'autocontrast',
  add: 'arithmetic',
  subtract: 'arithmetic',
  multiply: 'arithmetic',
  absdiff: 'arithmetic',
  addWeighted: 'arithmetic',
  bitwise_and: 'arithmetic',
  bitwise_or: 'arithmetic',
  bitwise_xor: 'arithmetic',
  LUT: 'arithmetic',
};

/** Functions that give other things than images. */
const findings: Readonly<Record<string, OperationKind>> = {
  findContours: 'segmentation',
  connectedComponents: 'segmentation',
  connectedComponentsWithStats: 'segmentation',
  kmeans: 'segmentation',
  watershed: 'segmentation',
  grabCut: 'segmentation',
  HoughLines: 'detection',
  HoughLinesP: 'detection',
  HoughCircles: 'detection',
  matchTemplate: 'detection',
  goodFeaturesToTrack: 'detection',
  cornerHarris: 'detection',
  calcHist: 'histogram',
  mean: 'numerical_analysis',
  meanStdDev: 'numerical_analysis',
  minMaxLoc: 'numerical_analysis',
  countNonZero: 'numerical_analysis',
};

const drawings: Readonly<Record<string, OperationKind>> = {
  rectangle: 'render_marks',
  circle: 'render_marks',
  ellipse: 'render_marks',
  drawContours: 'render_marks',
  fillPoly: 'render_marks',
  polylines: 'render_lines',
  line: 'render_lines',
  arrowedLine: 'render_lines',
  putText: 'render_text',
};

export const opencv: Library = {
  modules: ['cv2'],
  call(path, call) {
    const name = path.split('.').at(-1) ?? '';
    return callFunction(name, call, { call: `cv2.${name}`, line: call.line });
  },
  callMethod(self, name, { session, args, line }) {
    if (self.kind !== 'object' || !self.type.startsWith('cv2.')) return undefined;
    const [first] = args.positional;
    const site = { call: `${self.type}.${name}`, line };
    if (first?.kind !== 'image') return unknown;
    if (self.type === 'cv2.createCLAHE') return operate(session, site, 'equalize', first);
    session.record({ ...site, kind: 'detection', input: first });
    return unknown;
  },
};

function callFunction(name: string, call: Call, site: CallSite): Value {
  const { session, args } = call;
  const image = args.get(0, 'src', 'img', 'image');
  if (name === 'imread') return openFile(args.get(0, 'filename'), 'array', call, site.call);
  if (name === 'getRotationMatrix2D') return rotationMatrix(call);
  if (name === 'imwrite') return write(call, site);
  if (name === 'imshow') {
    const shown = args.get(1, 'mat');
    if (shown?.kind === 'image') {
      session.record({ ...site, kind: 'show', input: shown });
      session.show(shown);
    }
    return none;
  }
  if (name === 'merge' && image?.kind === 'sequence') {
    const [channel] = image.items;
    return channel?.kind === 'image' ? session.alias(channel) : unknown;
  }
  if (name === 'calcHist' && image?.kind === 'sequence') {
    const [counted] = image.items;
    if (counted?.kind === 'image') session.record({ ...site, kind: 'histogram', input: counted });
    return unknown;
  }
  if (name === 'hconcat' || name === 'vconcat') {
    const first = image?.kind === 'sequence' ? image.items[0] : undefined;
    if (first?.kind !== 'image') return unknown;
    return operate(session, site, 'composite', first, { size: 'unknown', toInput: 'lost' });
  }
  if (image?.kind !== 'image') return /^[A-Z]|^create/.test(name) ? object(`cv2.${name}`) : unknown;
  const filter = filters[name];
  if (filter !== undefined) return operate(session, site, filter, image);
  const finding = findings[name];
  if (finding !== undefined) {
    session.record({ ...site, kind: finding, input: image });
    return unknown;
  }
  const drawing = drawings[name];
  if (drawing !== undefined) {
    session.record({ ...site, kind: drawing, input: image, output: image });
    return image;
  }
  return move(name, image, call, site) ?? adjust(name, image, call, site);
}

function move(
  name: string,
  image: ImageValue,
  { session, args }: Call,
  site: CallSite,
): Value | undefined {
  const size = sizeOf(image);
  switch (name) {
    case 'rotate': {
      const code = args.get(1, 'rotateCode');
      const named =
        code?.kind === 'path' ? rotations[code.path.split('.').at(-1) ?? ''] : undefined;
      const kind = named ?? rotationCodes[numberOf(code) ?? -1];
      if (kind !== undefined) return orient(session, site, image, kind);
      return operate(session, site, 'rotate', image, { size: 'unknown', toInput: 'lost' });
    }
    case 'flip': {
      const code = args.number(1, 'flipCode');
      if (code === undefined) return operate(session, site, 'rotate', image, { toInput: 'lost' });
      const kind = code < 0 ? 'rotate_180' : code === 0 ? 'flip_vertical' : 'flip_horizontal';
      return orient(session, site, image, kind);
    }
    case 'transpose':
      return orient(session, site, image, 'transpose');
    case 'resize': {
      const sides = readSides(args.get(1, 'dsize'));
      const [fx, fy] = [args.number(3, 'fx'), args.number(4, 'fy')];
      if (sides !== undefined) return resize(session, site, image, sides);
      if (fx === undefined || fy === undefined || size === undefined) {
        return resize(session, site, image, undefined);
      }
      const scaled = [pythonRound(size[0] * fx), pythonRound(size[1] * fy)] as const;
      // The factors hold for positions, not what rounding the sides makes of them.
      return resize(session, site, image, scaled, [0, 0, scaled[0] / fx, scaled[1] / fy]);
    }
    case 'pyrUp':
    case 'pyrDown':
      return pyramid(name, image, session, site);
    case 'warpAffine': {
      const sides = readSides(args.get(2, 'dsize'));
      const toInput = backOf(args.get(1, 'M'));
      return operate(session, site, 'warp', image, {
        size: sides ?? 'unknown',
        toInput: toInput ?? 'lost',
      });
    }
    case 'warpPerspective':
    case 'remap': {
      const sides = readSides(args.get(2, 'dsize'));
      return operate(session, site, 'warp', image, { size: sides ?? 'unknown', toInput: 'lost' });
    }
    case 'getRectSubPix': {
      const [sides, center] = [readSides(args.get(1)), readSides(args.get(2))];
      if (sides === undefined || center === undefined) {
        return crop(session, site, image, undefined, { raises: false });
      }
      const left = center[0] - (sides[0] - 1) / 2;
      const top = center[1] - (sides[1] - 1) / 2;
      const box = [left, top, left + sides[0], top + sides[1]] as const;
      return crop(session, site, image, box, { raises: false });
    }
    case 'copyMakeBorder':
      return pad(image, { session, args, line: site.line }, site);
    default:
      return undefined;
  }
}

/** Every second pixel stays where it is, pixel 0 first: centres move by a quarter or a half. */
function pyramid(
  name: 'pyrUp' | 'pyrDown',
  image: ImageValue,
  session: Session,
  site: CallSite,
): Value {
  const size = sizeOf(image);
  if (size === undefined) return resize(session, site, image, undefined);
  const isUp = name === 'pyrUp';
  const sides = size.map((side) => (isUp ? side * 2 : (side + 1) >> 1)) as [number, number];
  const toInput = isUp ? fromScale(0.5, 0.5, 0.25, 0.25) : fromScale(2, 2, -0.5, -0.5);
  return operate(session, site, 'resize', image, { size: sides, toInput }, sides);
}

function pad(image: ImageValue, { session, args }: Call, site: CallSite): Value {
  const size = sizeOf(image);
  const [top, bottom, left, right] = [1, 2, 3, 4].map((place) => args.number(place));
  const isKnown =
    top !== undefined && bottom !== undefined && left !== undefined && right !== undefined;
  if (!isKnown || size === undefined) {
    return operate(session, site, 'pad', image, { size: 'unknown', toInput: 'lost' });
  }
  const grown = [size[0] + left + right, size[1] + top + bottom] as const;
  const change = { size: grown, toInput: [1, 0, -left, 0, 1, -top] as const };
  return operate(session, site, 'pad', image, change, [top, bottom, left, right]);
}

function adjust(name: string, image: ImageValue, { session, args }: Call, site: CallSite): Value {
  switch (name) {
    case 'cvtColor': {
      const code = args.get(1, 'code');
      const isGray = code?.kind === 'path' && /2GRAY$/.test(code.path);
      return isGray ? operate(session, site, 'grayscale', image) : session.alias(image);
    }
    case 'split':
      return tuple([session.alias(image), session.alias(image), session.alias(image)]);
    case 'threshold':
      return tuple([unknown, operate(session, site, 'segmentation', image)]);
    case 'convertScaleAbs': {
      const [alpha, beta] = [args.number(2, 'alpha'), args.number(3, 'beta')];
      const kind: OperationKind =
        alpha === undefined || alpha === 1
          ? (beta ?? 0) < 0
            ? 'brightness_down'
            : 'brightness_up'
          : 'contrast';
      const output = session.derive(image);
      const isIdentity = (alpha ?? 1) === 1 && (beta ?? 0) === 0;
      session.record({ ...site, kind, input: image, output, numbers: [alpha, beta], isIdentity });
      return output;
    }
    default:
      return operate(session, site, 'other', image, { size: 'unknown', toInput: 'lost' });
  }
}

function write({ session, args }: Call, site: CallSite): Value {
  const [path, image] = [args.get(0, 'filename'), args.get(1, 'img')];
  if (image?.kind !== 'image') return unknown;
  session.record({ ...site, kind: 'save', input: image });
  if (path?.kind === 'text') session.files.set(path.value, session.alias(image));
  return unknown;
}

/** The matrix of a turn around a center, counter-clockwise in degrees, as OpenCV defines it. */
function rotationMatrix({ args }: Call): Value {
  const center = numbersOf(args.get(0, 'center'));
  const [angle, scale] = [args.number(1, 'angle'), args.number(2, 'scale')];
  const [x, y] = center ?? [];
  if (x === undefined || y === undefined || angle === undefined || scale === undefined)
    return unknown;
  const radians = (angle * Math.PI) / 180;
  const [alpha, beta] = [scale * Math.cos(radians), scale * Math.sin(radians)];
  const row = (...numbers: readonly number[]): Value =>
    list(numbers.map((item) => number(item, false)));
  return list([
    row(alpha, beta, (1 - alpha) * x - beta * y),
    row(-beta, alpha, beta * x + (1 - alpha) * y),
  ]);
}

/**
 * From the output back to the input. OpenCV's matrix goes forward and counts from the centres of
 * pixels: half a pixel is added on both sides.
 */
function backOf(matrix: Value | undefined): Affine | undefined {
  const rows = matrix?.kind === 'sequence' ? matrix.items.map(numbersOf) : [];
  const [first, second] = rows;
  if (first?.length !== 3 || second?.length !== 3) return undefined;
  const forward = [...first, ...second] as unknown as Affine;
  const centered = composeAffine(
    [1, 0, 0.5, 0, 1, 0.5],
    composeAffine(forward, [1, 0, -0.5, 0, 1, -0.5]),
  );
  return invertAffine(centered);
}
