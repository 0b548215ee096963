/** The operations of code on images, in order, each with its boxes. */
import type { Attempt } from './attempts.ts';
import type { Affine, Box } from './geometry.ts';
import type { GiveUpReason } from './interpreter/budget.ts';
import type { OperationFamily, OperationKind } from './operation-kind.ts';

/**
 * Why an operation changes nothing: a crop of at least 0.9 of its image, a crop with an IoU of at
 * least 0.95 with an earlier one, parameters that leave the image as it is.
 */
export type NoOpReason = 'whole' | 'repeated' | 'identity';

/** Why a box is invalid: swapped sides, no area, partly outside, wholly outside. */
export type BoxProblem = 'inverted' | 'empty' | 'overhanging' | 'outside';

/**
 * One operation on an image, as the code states it: what was called, on which image, with which
 * box. Boxes are in pixels. A field is absent if the code alone does not determine it.
 */
export interface Operation {
  readonly kind: OperationKind;
  readonly family: OperationFamily;
  /** Line of the call, from 1. */
  readonly line: number;
  /** The function that was called, e.g. `Image.crop`, `cv2.flip`; `[]` for a slice. */
  readonly call: string;
  /** Id of the image it read: the name of an input, or of an earlier output. */
  readonly input: string;
  /** Id of the image it made, where it made one. */
  readonly output?: string;
  /** Numbers that it was given and that are known: angle, factor, size, the box as written. */
  readonly numbers: readonly number[];
  /** Box of a crop in the input image, as the library takes it. */
  readonly box?: Box;
  /** The upright box around it in the canonical frame. */
  readonly canonicalBox?: Box;
  /** The input image of the task whose canonical frame that is. */
  readonly source?: string;
  readonly boxProblem?: BoxProblem;
  /** Share of its image that a crop covers, 0 to 1, where both are known. */
  readonly share?: number;
  /** Largest IoU of a crop with an earlier one of the same image, where both are known. */
  readonly repeatIou?: number;
  readonly isNoOp: boolean;
  readonly noOpReason?: NoOpReason;
  /** False under a condition that could not be decided. */
  readonly isCertain: boolean;
}

/** An image as it was shown to the model. */
export interface ShownImage {
  readonly id: string;
  readonly width?: number;
  readonly height?: number;
  readonly source?: string;
  /** From its frame to the canonical one. */
  readonly toCanonical?: Affine;
  /** Where all of it lies in the canonical frame. */
  readonly canonicalBox?: Box;
}

/** The tool use of one turn's code. */
export interface TurnToolUse {
  /** Index of the turn in its trajectory. */
  readonly turn: number;
  readonly operations: readonly Operation[];
  /** Those operations, and all that the code names where it was not followed. */
  readonly attempts: readonly Attempt[];
  readonly shown: readonly ShownImage[];
  /** No statement that does anything: comments, `pass`, bare strings. */
  readonly isCommentOnly: boolean;
  /** It handles images, but nothing comes of it: only loads, saves, shows and no-ops. */
  readonly isNoOp: boolean;
  /** It does nothing but print what it was written with: its own texts and numbers. */
  readonly isPrintOnly: boolean;
  /** The code does not parse. */
  readonly hasSyntaxError: boolean;
  /** The class of the error that the code ends with as far as it can be told from the code. */
  readonly raises?: string;
  /** The analysis gave up before the end of the code: operations may be missing. */
  readonly isIncomplete: boolean;
  /** Why it did; what a later turn does is then not certain. */
  readonly gaveUp?: GiveUpReason;
}
