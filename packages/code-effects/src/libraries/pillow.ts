/** Pillow's images: `PIL.Image`, its methods and attributes. */
import type { Box } from '../geometry.ts';
import { pythonRound } from '../interpreter/operators.ts';
import type { Call, Library } from '../interpreter/runtime.ts';
import type { Session } from '../interpreter/session.ts';
import {
  type Arguments,
  type ImageValue,
  none,
  number,
  numberOf,
  numbersOf,
  truthOf,
  tuple,
  unknown,
  type Value,
} from '../interpreter/values.ts';
import {
  type CallSite,
  crop,
  type Orientation,
  operate,
  orient,
  resize,
  sizeOf,
  turn,
} from './images.ts';

const transposes: readonly Orientation[] = [
  'flip_horizontal',
  'flip_vertical',
  'rotate_90',
  'rotate_180',
  'rotate_270',
  'transpose',
  'transverse',
];

const transposeNames: Readonly<Record<string, Orientation>> = {
  FLIP_LEFT_RIGHT: 'flip_horizontal',
  FLIP_TOP_BOTTOM: 'flip_vertical',
  ROTATE_90: 'rotate_90',
  ROTATE_180: 'rotate_180',
  ROTATE_270: 'rotate_270',
  TRANSPOSE: 'transpose',
  TRANSVERSE: 'transverse',
};

export const pillow: Library = {
  modules: ['builtins'],
  call(path, call) {
    // `display` of notebooks, which the sandbox has too.
    if (path !== 'builtins.display') return undefined;
    for (const value of call.args.positional) show(value, { ...call, name: 'display' });
    return none;
  },
  callMethod(self, name, call) {
    if (self.kind !== 'image' || self.image.form !== 'pillow') return undefined;
    return callImage(self, name, call);
  },
  attribute(self, name, session) {
    if (self.kind !== 'image' || self.image.form !== 'pillow') return undefined;
    return imageAttribute(self, name, session);
  },
};

function show(value: Value, { session, line, name }: Call & { readonly name: string }): void {
  if (value.kind !== 'image') return;
  session.record({ kind: 'show', call: name, line, input: value });
  session.show(value);
}

export function sizeTuple(image: ImageValue): Value {
  const size = sizeOf(image);
  return size === undefined ? tuple([unknown, unknown]) : tuple([number(size[0]), number(size[1])]);
}

function imageAttribute(self: ImageValue, name: string, _session: Session): Value | undefined {
  const size = sizeOf(self);
  if (name === 'size') return sizeTuple(self);
  if (name === 'width') return size === undefined ? unknown : number(size[0]);
  if (name === 'height') return size === undefined ? unknown : number(size[1]);
  if (['mode', 'format', 'info', 'filename', 'n_frames', 'palette'].includes(name)) return unknown;
  return undefined;
}

/** Four numbers, rounded as Pillow rounds a box. */
export function readBox(value: Value | undefined): Box | undefined {
  const numbers = numbersOf(value);
  if (numbers?.length !== 4) return undefined;
  return numbers.map(pythonRound) as unknown as Box;
}

export function readSides(value: Value | undefined): readonly [number, number] | undefined {
  const numbers = numbersOf(value);
  const [width, height] = numbers ?? [];
  if (numbers?.length !== 2 || width === undefined || height === undefined) return undefined;
  return [width, height];
}

function callImage(self: ImageValue, name: string, call: Call): Value | undefined {
  const { session, args, line } = call;
  const site: CallSite = { call: `Image.${name}`, line };
  switch (name) {
    case 'crop': {
      const box = args.get(0, 'box');
      const size = sizeOf(self);
      if (box === undefined || box.kind === 'none') {
        return crop(session, site, self, size && [0, 0, ...size], { raises: true });
      }
      return crop(session, site, self, readBox(box), { raises: true });
    }
    case 'rotate':
      return rotate(self, args, session, site);
    case 'transpose': {
      const kind = orientationOf(args.get(0, 'method'));
      if (kind === undefined) {
        return operate(session, site, 'rotate', self, { size: 'unknown', toInput: 'lost' });
      }
      return orient(session, site, self, kind);
    }
    case 'resize': {
      const box = numbersOf(args.get(2, 'box')) as Box | undefined;
      return resize(session, site, self, readSides(args.get(0, 'size')), box);
    }
    case 'thumbnail': {
      thumbnail(self, readSides(args.get(0, 'size')), session, site);
      return none;
    }
    case 'reduce': {
      const factor = args.number(0, 'factor');
      const size = sizeOf(self);
      if (factor === undefined || size === undefined) {
        return resize(session, site, self, undefined);
      }
      const sides = [Math.ceil(size[0] / factor), Math.ceil(size[1] / factor)] as const;
      return resize(session, site, self, sides, [0, 0, sides[0] * factor, sides[1] * factor]);
    }
    case 'transform': {
      const size = readSides(args.get(0, 'size'));
      return operate(session, site, 'warp', self, { size: size ?? 'unknown', toInput: 'lost' });
    }
    case 'convert':
    case 'getchannel':
    case 'quantize': {
      const mode = args.get(0, 'mode');
      const isGray = name === 'convert' && mode?.kind === 'text' && /^(L|LA|1)$/.test(mode.value);
      return isGray ? operate(session, site, 'grayscale', self) : session.alias(self);
    }
    case 'copy':
    case '__copy__':
      return session.alias(self);
    case 'split': {
      const channel = (): Value => session.alias(self);
      return tuple([channel(), channel(), channel()]);
    }
    case 'filter':
      return filter(self, args, session, site);
    case 'point':
    case 'effect_spread':
      return operate(session, site, 'arithmetic', self);
    case 'paste':
    case 'alpha_composite': {
      const foreign = args.get(0, 'im', 'source');
      session.record({ ...site, kind: 'composite', input: self, output: self });
      if (foreign?.kind === 'image') {
        const { id, form, width, height } = self.image;
        const size = width !== undefined && height !== undefined ? { width, height } : undefined;
        self.image = { id, form, ...size };
      }
      return none;
    }
    case 'show':
      show(self, { ...call, name: 'Image.show' });
      return none;
    case 'save': {
      const path = args.get(0, 'fp');
      session.record({ ...site, kind: 'save', input: self });
      if (path?.kind === 'text') session.files.set(path.value, session.alias(self));
      return none;
    }
    case 'histogram':
      session.record({ ...site, kind: 'histogram', input: self });
      return unknown;
    case 'getpixel':
    case 'getdata':
    case 'getcolors':
    case 'getbbox':
    case 'getextrema':
    case 'entropy':
      session.record({ ...site, kind: 'numerical_analysis', input: self });
      return unknown;
    case '__enter__':
      return self;
    default:
      return unknown;
  }
}

export function orientationOf(value: Value | undefined): Orientation | undefined {
  if (value?.kind === 'path') return transposeNames[value.path.split('.').at(-1) ?? ''];
  const index = numberOf(value);
  return index === undefined ? undefined : transposes[index];
}

function rotate(self: ImageValue, args: Arguments, session: Session, site: CallSite): Value {
  const isSet = (value: Value | undefined): boolean =>
    value !== undefined && value.kind !== 'none' && truthOf(value) !== false;
  const center = readSides(args.get(3, 'center'));
  return turn(session, site, self, args.number(0, 'angle'), {
    expand: isSet(args.get(2, 'expand')),
    isMoved: isSet(args.get(4, 'translate')),
    center,
  });
}

/** Shrinks in place as Pillow does, keeping the aspect as well as whole pixels can. */
function thumbnail(
  self: ImageValue,
  sides: readonly [number, number] | undefined,
  session: Session,
  site: CallSite,
): void {
  const size = sizeOf(self);
  if (sides === undefined || size === undefined) {
    self.image = resize(session, site, self, undefined).image;
    return;
  }
  const [width, height] = size;
  let [x, y] = [Math.floor(sides[0]), Math.floor(sides[1])];
  if (x >= width && y >= height) {
    session.record({ ...site, kind: 'resize', input: self, numbers: sides, isIdentity: true });
    return;
  }
  const aspect = width / height;
  const nearest = (value: number, error: (side: number) => number): number => {
    const [low, high] = [Math.floor(value), Math.ceil(value)];
    return Math.max(1, error(low) <= error(high) ? low : high);
  };
  if (x / y >= aspect) x = nearest(y * aspect, (side) => Math.abs(aspect - side / y));
  else y = nearest(x / aspect, (side) => (side === 0 ? 0 : Math.abs(aspect - x / side)));
  self.image = resize(session, site, self, [x, y]).image;
}

function filter(self: ImageValue, args: Arguments, session: Session, site: CallSite): Value {
  const given = args.get(0, 'filter');
  const name =
    given?.kind === 'path'
      ? given.path.split('.').at(-1)
      : given?.kind === 'object'
        ? given.type
        : '';
  const kinds = {
    BLUR: 'blur',
    BoxBlur: 'blur',
    GaussianBlur: 'gaussian_blur',
    MedianFilter: 'median_blur',
    SHARPEN: 'sharpen',
    UnsharpMask: 'sharpen',
    SMOOTH: 'smooth',
    SMOOTH_MORE: 'smooth',
    DETAIL: 'detail',
    EDGE_ENHANCE: 'edge_enhance',
    EDGE_ENHANCE_MORE: 'edge_enhance',
    FIND_EDGES: 'edge_detect',
    CONTOUR: 'edge_detect',
    EMBOSS: 'emboss',
    MinFilter: 'erode',
    MaxFilter: 'dilate',
  } as const;
  const kind = kinds[(name ?? '') as keyof typeof kinds] ?? 'filter';
  return operate(session, site, kind, self);
}
