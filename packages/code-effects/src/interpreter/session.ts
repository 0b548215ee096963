/** What a session accumulates while code is followed: images, operations, what was shown. */
import {
  type Affine,
  areaOf,
  type Box,
  composeAffine,
  identity,
  intersection,
  intersectionOverUnion,
  mapBox,
} from '../geometry.ts';
import type { BoxProblem, NoOpReason, Operation, OperationKind, ShownImage } from '../operation.ts';
import { familyOf } from '../operation.ts';
import { Budget, GiveUp, MAX_OPERATIONS } from './budget.ts';
import type { Arguments, Image, ImageValue, Value } from './values.ts';

/** A crop of at least this share of its image changes nothing worth a look. */
export const WHOLE_SHARE: number = 0.9;
/** A crop this like an earlier one shows nothing new. */
export const REPEATED_IOU: number = 0.95;

/** Steps that an operation takes besides those of its code. */
const RECORDED = 10;

/** How an operation changes an image; what is left out stays, `size: 'unknown'` loses track. */
export interface Change {
  readonly size?: readonly [width: number, height: number] | 'unknown';
  /** From the output's frame to the input's; `lost` where no such map exists or it is not known. */
  readonly toInput?: Affine | 'lost';
  readonly form?: Image['form'];
}

export interface Record {
  readonly kind: OperationKind;
  readonly call: string;
  readonly line: number;
  readonly input: ImageValue;
  readonly output?: ImageValue;
  readonly numbers?: readonly (number | undefined)[];
  readonly box?: Box;
  readonly boxProblem?: BoxProblem;
  readonly isIdentity?: boolean;
}

/** Functions of the code call back into the interpreter through this. */
export type CallFunction = (callee: Value, args: Arguments, line: number) => Value;

export class Session {
  operations: Operation[] = [];
  shown: ShownImage[] = [];
  /** Images that axes of the current figure hold. */
  plotted: ImageValue[] = [];
  /** What `save` wrote, by path. */
  readonly files: Map<string, ImageValue> = new Map();
  /** Images a path may open: names of the task's inputs in order. */
  inputs: readonly ImageValue[] = [];
  /** Conditions not decided around what is being followed now. */
  doubts: number = 0;
  turn: number = 0;
  /** What is left of the work for this turn. */
  budget: Budget = new Budget();
  #made = 0;
  /** An earlier turn was not followed to its end: what it left behind is not known. */
  #isLost = false;
  readonly #crops: { readonly source: string; readonly box: Box }[] = [];

  begin(turn: number): void {
    this.turn = turn;
    this.operations = [];
    this.shown = [];
    this.doubts = this.#isLost ? 1 : 0;
    this.#made = 0;
    this.budget = new Budget();
  }

  /** This turn is not followed to its end: nothing that comes after it is certain. */
  lose(): void {
    this.#isLost = true;
  }

  /** An image of nobody's pixels: drawn, blank, read from a file that is not known. */
  blank(form: Image['form'], width?: number, height?: number): ImageValue {
    return this.#image({
      form,
      ...(width !== undefined && height !== undefined && { width, height }),
    });
  }

  /** An image made from another. */
  derive(input: ImageValue, change: Change = {}): ImageValue {
    const { width, height, source, toCanonical, form } = input.image;
    const { size = 'same', toInput = identity } = change;
    const sides =
      size === 'same'
        ? width !== undefined && height !== undefined && { width, height }
        : size !== 'unknown' && { width: size[0], height: size[1] };
    const map =
      toInput === 'lost' || toCanonical === undefined
        ? undefined
        : composeAffine(toCanonical, toInput);
    return this.#image({
      form: change.form ?? form,
      ...sides,
      ...(source !== undefined && { source }),
      ...(map !== undefined && { toCanonical: map }),
    });
  }

  /** The same image in another form: a conversion, a copy, what a file gives back. */
  alias({ image }: ImageValue, form: Image['form'] = image.form): ImageValue {
    return { kind: 'image', image: { ...image, form } };
  }

  #image(image: Omit<Image, 'id'>): ImageValue {
    this.#made++;
    return { kind: 'image', image: { id: `t${this.turn}.${this.#made}`, ...image } };
  }

  record(done: Record): void {
    const { kind, call, line, input, output, box } = done;
    const { toCanonical, source } = input.image;
    const canonicalBox =
      box !== undefined && toCanonical !== undefined ? mapBox(toCanonical, box) : undefined;
    const reason = done.isIdentity ? 'identity' : this.#noOpOfCrop(done, canonicalBox);
    this.budget.spend(RECORDED);
    if (this.operations.length >= MAX_OPERATIONS) throw new GiveUp('size');
    this.operations.push({
      kind,
      family: familyOf(kind),
      line,
      call,
      input: input.image.id,
      ...(output && { output: output.image.id }),
      numbers: (done.numbers ?? []).filter((item): item is number => item !== undefined),
      ...(box && { box }),
      ...(canonicalBox && { canonicalBox }),
      ...(source !== undefined && { source }),
      ...(done.boxProblem && { boxProblem: done.boxProblem }),
      isNoOp: reason !== undefined,
      ...(reason && { noOpReason: reason }),
      isCertain: this.doubts === 0,
    });
  }

  #noOpOfCrop(
    { kind, box, boxProblem, input, output }: Record,
    canonicalBox: Box | undefined,
  ): NoOpReason | undefined {
    if (kind !== 'crop' || box === undefined || output === undefined) return undefined;
    const { width, height, source = '' } = input.image;
    if (width !== undefined && height !== undefined && width * height > 0) {
      const inside = areaOf(intersection(box, [0, 0, width, height]));
      if (inside >= WHOLE_SHARE * width * height) return 'whole';
    }
    if (canonicalBox === undefined || boxProblem === 'empty') return undefined;
    this.budget.spend(this.#crops.length >> 2);
    const isRepeated = this.#crops.some(
      (crop) =>
        crop.source === source && intersectionOverUnion(crop.box, canonicalBox) >= REPEATED_IOU,
    );
    this.#crops.push({ source, box: canonicalBox });
    return isRepeated ? 'repeated' : undefined;
  }

  /** The model gets to see an image. */
  show({ image }: ImageValue): void {
    const { id, width, height, source, toCanonical } = image;
    const isKnown = width !== undefined && height !== undefined && toCanonical !== undefined;
    this.shown.push({
      id,
      ...(width !== undefined && { width }),
      ...(height !== undefined && { height }),
      ...(source !== undefined && { source }),
      ...(toCanonical && { toCanonical }),
      ...(isKnown && { canonicalBox: mapBox(toCanonical, [0, 0, width, height]) }),
    });
  }
}
