/** Pillow's functions on images: `Image.open`, `ImageOps`, `ImageEnhance`, `ImageDraw`, … */
import { fromCrop, fromScale } from '../geometry.ts';
import { pythonRound } from '../interpreter/operators.ts';
import type { Call, Library } from '../interpreter/runtime.ts';
import {
  type ImageValue,
  none,
  numberOf,
  object,
  unknown,
  type Value,
} from '../interpreter/values.ts';
import type { OperationKind } from '../operation-kind.ts';
import { type CallSite, crop, operate, orient, resize, sizeOf } from './images.ts';
import { readSides } from './pillow.ts';

export const pillowParts: Library = {
  modules: ['PIL'],
  call(path, call) {
    const name = path.slice('PIL.'.length);
    const [module = '', called = ''] = name.split('.');
    const site = { call: name, line: call.line };
    if (module === 'Image') return callModule(called, call, site);
    if (module === 'ImageOps') return callOps(called, call, site);
    const [first] = call.args.positional;
    if (module === 'ImageEnhance' && first !== undefined) {
      return object(`ImageEnhance.${called}`, { image: first });
    }
    if (module === 'ImageDraw' && called === 'Draw' && first !== undefined) {
      return object('ImageDraw', { image: first });
    }
    if (module === 'ImageFilter') return object(called);
    if (module === 'ImageChops' && first?.kind === 'image') {
      return operate(call.session, site, called === 'invert' ? 'invert' : 'arithmetic', first);
    }
    if (module === 'ImageStat' && first?.kind === 'image') {
      call.session.record({ ...site, kind: 'numerical_analysis', input: first });
      return unknown;
    }
    if (module === 'ImageShow' && first?.kind === 'image') {
      call.session.record({ ...site, kind: 'show', input: first });
      call.session.show(first);
      return none;
    }
    return undefined;
  },
  callMethod(self, name, { session, args, line }) {
    if (self.kind !== 'object') return undefined;
    const image = self.fields.get('image');
    if (image?.kind !== 'image') return undefined;
    const site = { call: `${self.type}.${name}`, line };
    if (self.type === 'ImageDraw') {
      const kind = drawKinds[name];
      if (kind !== undefined) session.record({ ...site, kind, input: image, output: image });
      return kind === undefined ? unknown : none;
    }
    if (!self.type.startsWith('ImageEnhance.') || name !== 'enhance') return undefined;
    const factor = args.number(0, 'factor');
    const kinds: Readonly<Record<string, OperationKind>> = {
      Brightness: factor !== undefined && factor < 1 ? 'brightness_down' : 'brightness_up',
      Contrast: 'contrast',
      Sharpness: 'sharpness',
      Color: 'color',
    };
    const kind = kinds[self.type.slice('ImageEnhance.'.length)] ?? 'filter';
    const output = session.derive(image);
    const isIdentity = factor === 1;
    session.record({ ...site, kind, input: image, output, numbers: [factor], isIdentity });
    return output;
  },
};

const drawKinds: Readonly<Record<string, OperationKind>> = {
  rectangle: 'render_marks',
  rounded_rectangle: 'render_marks',
  ellipse: 'render_marks',
  circle: 'render_marks',
  point: 'render_marks',
  polygon: 'render_marks',
  regular_polygon: 'render_marks',
  chord: 'render_marks',
  pieslice: 'render_marks',
  bitmap: 'render_marks',
  line: 'render_lines',
  arc: 'render_lines',
  text: 'render_text',
  multiline_text: 'render_text',
};

/** The image at a path: a file the code saved, else an input; sandboxes put those at any path. */
export function openFile(
  path: Value | undefined,
  form: 'pillow' | 'array',
  { session, line }: Call,
  call: string,
): ImageValue {
  if (path?.kind !== 'text' && path?.kind !== 'unknown') return session.blank(form);
  const saved = path.kind === 'text' ? session.files.get(path.value) : undefined;
  const found = saved ?? session.inputs[0];
  if (found === undefined) return session.blank(form);
  const opened = session.alias(found, form);
  session.record({ kind: 'load', call, line, input: found, output: opened });
  return opened;
}

function callModule(name: string, call: Call, site: CallSite): Value | undefined {
  const { session, args } = call;
  const [first, second] = args.positional;
  switch (name) {
    case 'open':
      return openFile(args.get(0, 'fp'), 'pillow', call, site.call);
    case 'new': {
      const sides = readSides(args.get(1, 'size'));
      return session.blank('pillow', sides?.[0], sides?.[1]);
    }
    case 'fromarray':
      return first?.kind === 'image' ? session.alias(first, 'pillow') : session.blank('pillow');
    case 'frombytes':
    case 'frombuffer':
      return session.blank('pillow');
    case 'blend':
    case 'composite':
    case 'alpha_composite':
      if (first?.kind !== 'image') return session.blank('pillow');
      return operate(session, site, 'composite', first, { toInput: 'lost' });
    case 'merge': {
      const channels = args.get(1, 'bands');
      const channel = channels?.kind === 'sequence' ? channels.items[0] : undefined;
      return channel?.kind === 'image' ? session.alias(channel) : session.blank('pillow');
    }
    case 'eval':
      return first?.kind === 'image' ? operate(session, site, 'arithmetic', first) : unknown;
    case 'Image':
      return unknown;
    default:
      return second?.kind === 'image' || first?.kind === 'image' ? unknown : undefined;
  }
}

const opsKinds: Readonly<Record<string, OperationKind>> = {
  grayscale: 'grayscale',
  invert: 'invert',
  autocontrast: 'autocontrast',
  equalize: 'equalize',
  posterize: 'posterize',
  solarize: 'solarize',
  colorize: 'color',
};

function callOps(name: string, { session, args }: Call, site: CallSite): Value | undefined {
  const image = args.get(0, 'image');
  if (image?.kind !== 'image') return undefined;
  const kind = opsKinds[name];
  if (kind !== undefined) return operate(session, site, kind, image);
  const size = sizeOf(image);
  const sides = readSides(args.get(1, 'size'));
  switch (name) {
    case 'mirror':
      return orient(session, site, image, 'flip_horizontal');
    case 'flip':
      return orient(session, site, image, 'flip_vertical');
    case 'exif_transpose':
      return session.alias(image);
    case 'contain':
    case 'cover':
      return resize(session, site, image, size && sides && proportioned(size, sides, name));
    case 'scale': {
      const factor = args.number(1, 'factor');
      if (factor === undefined || size === undefined)
        return resize(session, site, image, undefined);
      const scaled = [pythonRound(factor * size[0]), pythonRound(factor * size[1])] as const;
      return resize(session, site, image, scaled);
    }
    case 'fit': {
      if (size === undefined || sides === undefined) return resize(session, site, image, undefined);
      const [width, height] = size;
      const ratio = sides[0] / sides[1];
      const isWide = width / height >= ratio;
      const [cutWidth, cutHeight] = isWide ? [ratio * height, height] : [width, width / ratio];
      const [left, top] = [(width - cutWidth) / 2, (height - cutHeight) / 2];
      return resize(session, site, image, sides, [left, top, left + cutWidth, top + cutHeight]);
    }
    case 'pad': {
      if (size === undefined || sides === undefined) {
        return operate(session, site, 'pad', image, { size: 'unknown', toInput: 'lost' });
      }
      const [width, height] = proportioned(size, sides, 'contain');
      const left = pythonRound((sides[0] - width) / 2);
      const top = pythonRound((sides[1] - height) / 2);
      const [scaleX, scaleY] = [size[0] / width, size[1] / height];
      const toInput = fromScale(scaleX, scaleY, -left * scaleX, -top * scaleY);
      return operate(session, site, 'pad', image, { size: sides, toInput }, sides);
    }
    case 'expand': {
      const border = numberOf(args.get(1, 'border'));
      if (border === undefined || size === undefined) {
        return operate(session, site, 'pad', image, { size: 'unknown', toInput: 'lost' });
      }
      const grown = [size[0] + 2 * border, size[1] + 2 * border] as const;
      const change = { size: grown, toInput: fromCrop(-border, -border) };
      return operate(session, site, 'pad', image, change, [border]);
    }
    case 'crop': {
      const border = numberOf(args.get(1, 'border')) ?? 0;
      const box = size && ([border, border, size[0] - border, size[1] - border] as const);
      return crop(session, site, image, box, { raises: true });
    }
    default:
      return operate(session, site, 'filter', image, { size: 'unknown', toInput: 'lost' });
  }
}

/** The largest sides of the image's aspect within the given ones, or the smallest around them. */
function proportioned(
  [width, height]: readonly [number, number],
  [maxWidth, maxHeight]: readonly [number, number],
  how: string,
): readonly [number, number] {
  const [own, wanted] = [width / height, maxWidth / maxHeight];
  if (own === wanted) return [maxWidth, maxHeight];
  const fixesWidth = how === 'contain' ? own > wanted : own < wanted;
  if (fixesWidth) return [maxWidth, pythonRound((height / width) * maxWidth)];
  return [pythonRound((width / height) * maxHeight), maxHeight];
}
