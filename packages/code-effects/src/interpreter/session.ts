/** The state of a session while code is followed: images, operations, what was shown. */
import { type Attempt, kindsInText } from '../attempts.ts';
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

import type { BoxProblem, NoOpReason, Operation, ShownImage } from '../operation.ts';
import type { OperationKind } from '../operation-kind.ts';
import { familyOf } from '../operation-kind.ts';
import { type EffectThresholds, effectThresholds } from '../thresholds.ts';
import { Budget, BudgetExceededError, MAX_OPERATIONS } from './budget.ts';
import type { Image, ImageValue, Value } from './values.ts';

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

export class Session {
  operations: Operation[] = [];
  shown: ShownImage[] = [];
  /** Images that axes of the current figure hold. */
  plotted: ImageValue[] = [];
  /** Images that `save` wrote, by path. */
  readonly files: Map<string, ImageValue> = new Map();
  /** Images a path may open: names of the task's inputs in order. */
  inputs: readonly ImageValue[] = [];
  /** Conditions not decided around what is being followed now. */
  doubts: number = 0;
  turn: number = 0;
  /** The work that this turn may still do. */
  budget: Budget = new Budget();
  #made = 0;
  /** An earlier turn was not followed to its end: what it left behind is not known. */
  #isLost = false;
  /** Operations that this turn may have tried, by line and kinds. */
  readonly #attempts: Map<string, Attempt> = new Map();
  /** Something happened that is not followed: what else the code names may have been done. */
  isOpen: boolean = false;
  /** Calls of what is not known, in this turn. */
  unknownCalls: number = 0;
  /** Operations recorded so far, in all turns. */
  recorded: number = 0;
  /** Nodes of calls that were followed to an operation. */
  readonly followed: WeakSet<object> = new WeakSet();
  readonly #crops: { readonly source: string; readonly box: Box }[] = [];
  readonly thresholds: EffectThresholds;

  constructor(thresholds: EffectThresholds = effectThresholds) {
    this.thresholds = thresholds;
  }

  begin(turn: number): void {
    this.turn = turn;
    this.operations = [];
    this.shown = [];
    this.doubts = this.#isLost ? 1 : 0;
    this.#made = 0;
    this.#attempts.clear();
    this.isOpen = this.#isLost;
    this.unknownCalls = 0;
    this.budget = new Budget();
  }

  /** This turn is not followed to its end: nothing that comes after it is certain. */
  lose(): void {
    this.#isLost = true;
  }

  get attempts(): readonly Attempt[] {
    return [...this.#attempts.values()];
  }

  attempt(kinds: Attempt['kinds'], line: number): void {
    if (this.#attempts.size >= MAX_OPERATIONS) return;
    this.#attempts.set(`${line} ${kinds}`, { kinds, line });
  }

  /** Text is run as code, or names what is called. */
  runText(value: Value | undefined, line: number): void {
    this.isOpen = true;
    if (value?.kind !== 'text') this.attempt('any', line);
    else for (const kinds of kindsInText(value.value)) this.attempt(kinds, line);
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
    const likeness = this.#likenessOfCrop(done, canonicalBox);
    const reason = done.isIdentity ? 'identity' : noOpReasonOf(likeness, this.thresholds);
    this.budget.spend(RECORDED);
    this.recorded++;
    const numbers = (done.numbers ?? []).filter((item): item is number => item !== undefined);
    const isAnyTurn = kind === 'rotate' && numbers.length === 0;
    this.attempt(isAnyTurn ? ['rotate_90', 'rotate_180', 'rotate_270'] : [kind], line);
    if (this.operations.length >= MAX_OPERATIONS) throw new BudgetExceededError('size');
    this.operations.push({
      kind,
      family: familyOf(kind),
      line,
      call,
      input: input.image.id,
      ...(output && { output: output.image.id }),
      numbers,
      ...(box && { box }),
      ...(canonicalBox && { canonicalBox }),
      ...(source !== undefined && { source }),
      ...(done.boxProblem && { boxProblem: done.boxProblem }),
      ...likeness,
      isNoOp: reason !== undefined,
      ...(reason && { noOpReason: reason }),
      isCertain: this.doubts === 0,
    });
  }

  /** How much of its image a crop covers, and how like it is to earlier crops. */
  #likenessOfCrop(
    { kind, box, boxProblem, input, output }: Record,
    canonicalBox: Box | undefined,
  ): Pick<Operation, 'share' | 'repeatIou'> {
    if (kind !== 'crop' || box === undefined || output === undefined) return {};
    const { width, height, source = '' } = input.image;
    const area = width === undefined || height === undefined ? 0 : width * height;
    const covered = areaOf(intersection(box, [0, 0, width ?? 0, height ?? 0]));
    const share = area > 0 ? { share: covered / area } : {};
    if (canonicalBox === undefined || boxProblem === 'empty') return share;
    this.budget.spend(this.#crops.length >> 2);
    let repeatIou = 0;
    for (const crop of this.#crops) {
      if (crop.source !== source) continue;
      repeatIou = Math.max(repeatIou, intersectionOverUnion(crop.box, canonicalBox));
    }
    if ((share.share ?? 0) < this.thresholds.wholeShare)
      this.#crops.push({ source, box: canonicalBox });
    return { ...share, ...(repeatIou > 0 && { repeatIou }) };
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

function noOpReasonOf(
  { share = 0, repeatIou = 0 }: Pick<Operation, 'share' | 'repeatIou'>,
  { wholeShare, repeatedIou }: EffectThresholds,
): NoOpReason | undefined {
  // An operation that is not known to cover anything is not judged.
  if (share > 0 && share >= wholeShare) return 'whole';
  return repeatIou > 0 && repeatIou >= repeatedIou ? 'repeated' : undefined;
}
