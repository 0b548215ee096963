/** Whatever else is done with an image: text recognition, other libraries, functions not known. */
import type { Call, Library } from '../interpreter/runtime.ts';
import {
  type ImageValue,
  numberOf,
  object,
  truthOf,
  unknown,
  type Value,
} from '../interpreter/values.ts';
import type { OperationKind } from '../operation-kind.ts';
import { type CallSite, operate, quarterTurns, turnKind } from './images.ts';

export const analysis: Library = {
  modules: ['*'],
  call(path, call) {
    const image = call.args.all().find((value): value is ImageValue => value.kind === 'image');
    const site = { call: path, line: call.line };
    if (image === undefined) return object(path);
    if (/(^|\.)rotate(_bound)?$/.test(path)) return rotate(image, call, site);
    const kind = kindOf(path);
    if (kind === 'ocr' || kind === 'detection') {
      call.session.record({ ...site, kind, input: image });
      return unknown;
    }
    return operate(call.session, site, kind, image, { size: 'unknown', toInput: 'lost' });
  },
  callMethod(self, name, { session, args, line }) {
    // A reader of easyocr, a detector of another library.
    if (self.kind !== 'object' || !self.type.includes('.')) return undefined;
    const image = args.all().find((value): value is ImageValue => value.kind === 'image');
    if (image === undefined) return undefined;
    const call = `${self.type}.${name}`;
    session.record({ kind: kindOf(call), call, line, input: image });
    return unknown;
  },
};

function kindOf(path: string): OperationKind {
  if (/ocr|tesseract/i.test(path)) return 'ocr';
  if (/detect|yolo|face|dino/i.test(path)) return 'detection';
  if (/segment|label|watershed|slic|threshold/i.test(path)) return 'segmentation';
  if (/resize|rescale|zoom/.test(path)) return 'resize';
  if (/gaussian/.test(path)) return 'gaussian_blur';
  if (/canny|sobel|edge/i.test(path)) return 'edge_detect';
  if (/rgb2gray/.test(path)) return 'grayscale';
  if (/equalize/.test(path)) return 'equalize';
  return 'other';
}

/** `scipy.ndimage.rotate(a, 90)` and `skimage.transform.rotate` turn counter-clockwise. */
function rotate(image: ImageValue, { session, args }: Call, site: CallSite): Value {
  const degrees = numberOf(args.get(1, 'angle'));
  const reshape = args.get(-1, 'reshape', 'resize');
  const isScipy = site.call.startsWith('scipy');
  const keepsAll = reshape === undefined ? isScipy : truthOf(reshape) === true;
  if (degrees !== undefined && degrees % 90 === 0 && keepsAll) {
    return quarterTurns(session, site, image, degrees / 90);
  }
  const kind = degrees === undefined ? 'rotate' : turnKind(session, degrees);
  return operate(session, site, kind, image, { size: 'unknown', toInput: 'lost' }, [degrees]);
}
