/** From the code of a trajectory to what it did with images, turn by turn. */
import {
  type Action,
  codeOf,
  type ToolResult,
  type Trajectory,
  type TrajectoryImage,
} from '@saccade/trajectory';
import { kindsInText, unfollowedAttempts } from './attempts.ts';
import { type Affine, identity } from './geometry.ts';
import { BudgetExceededError, type GiveUpReason } from './interpreter/budget.ts';
import { Interpreter } from './interpreter/execute.ts';
import { Session } from './interpreter/session.ts';
import type { ImageValue, Value } from './interpreter/values.ts';
import type { TurnToolUse } from './operation.ts';
import type { Statement } from './syntax/ast.ts';
import { parsePython } from './syntax/parse.ts';
import { isIdle, onlyPrints } from './talk.ts';
import type { EffectThresholds } from './thresholds.ts';
import { codeOfTypedCall, isImageTool } from './typed-calls.ts';

/** An image that the code finds in a variable. */
export interface InputImage {
  /** The variable, e.g. `image_clue_0`; also its id in operations. */
  readonly name: string;
  /** Pixels of the image the code gets, not of the one the model saw. */
  readonly width: number;
  readonly height: number;
  /** From its frame to the canonical one; the identity by default. */
  readonly toCanonical?: Affine;
}

/** One execution. */
export interface TurnCode {
  /** Index of the turn in its trajectory. */
  readonly turn: number;
  readonly code: string;
  /** How it ended; without it, as far as the code tells. */
  readonly result?: Pick<ToolResult, 'kind' | 'errorLine'>;
}

/**
 * How the sandbox of a protocol behaves, as far as `analyzeCode` has to know: whether variables
 * persist, which modules are bound, and which images count as shown to the model.
 */
export interface AnalysisOptions {
  /** Whether variables stay from turn to turn. Default true. */
  readonly isPersistent?: boolean;
  /** Modules that are bound before the code runs. Default the sandbox's. */
  readonly prelude?: Readonly<Record<string, string>>;
  /** Other names of the first input, such as `image` and `img`. */
  readonly aliases?: readonly string[];
  /** Images shown besides those that the code itself shows. Default none. */
  readonly shows?: {
    /** An image that is the value of the last statement. */
    readonly lastExpression?: boolean;
    /** Images that the turn saved to files. */
    readonly savedFiles?: boolean;
    /** The first of these names that holds an image. */
    readonly results?: readonly string[];
  };
  /** From where on an operation is nothing new, or a quarter turn. Default the published numbers. */
  readonly thresholds?: EffectThresholds;
}

const sandboxPrelude: Readonly<Record<string, string>> = {
  np: 'numpy',
  plt: 'matplotlib.pyplot',
  Image: 'PIL.Image',
  io: 'io',
  base64: 'base64',
  math: 'math',
};

/**
 * Follows executions in order and gives what each did.
 *
 * The code is parsed and followed statement by statement with the values that are known, never run:
 * branches whose condition is known, loops over what is known, calls into functions, names of
 * earlier turns. What is behind a condition that is not known has `isCertain: false`.
 *
 * It never throws, whatever the code, and its work is bounded by counting it (`budget.ts`): what is
 * too long, too deep or does too much is given up, and `gaveUp` says why.
 */
export function analyzeCode(
  turns: readonly TurnCode[],
  inputs: readonly InputImage[],
  options: AnalysisOptions = {},
): readonly TurnToolUse[] {
  const { isPersistent = true } = options;
  const session = new Session(options.thresholds);
  let interpreter = new Interpreter(session);
  bindNames(interpreter, session, inputs, options);
  /** Statements of earlier turns: what they defined may be called later. */
  const earlier: Statement[] = [];
  return turns.map(({ turn, code, result }) => {
    session.begin(turn);
    if (!isPersistent) {
      interpreter = new Interpreter(session);
      bindNames(interpreter, session, inputs, options);
    }
    const { statements, errorLine, gaveUp: unread } = parsePython(code);
    const isRefused = errorLine !== undefined || result?.kind === 'forbidden';
    let gaveUp: GiveUpReason | undefined = unread;
    let raises: string | undefined = errorLine === undefined ? undefined : 'SyntaxError';
    if (!isRefused && unread === undefined) {
      try {
        raises = interpreter.run(statements, result?.errorLine);
        if (raises === undefined) showMore(interpreter, session, statements, options);
      } catch (error) {
        if (!(error instanceof BudgetExceededError)) throw error;
        gaveUp = error.reason;
      }
    }
    if (gaveUp !== undefined && isPersistent) session.lose();
    // It ended well where an error was expected, or nobody knows how far it came.
    const isMisjudged = raises !== undefined && result?.kind === 'ok';
    if (isMisjudged || gaveUp !== undefined) session.isOpen = true;
    if (!isRefused && session.isOpen) {
      for (const { kinds, line } of unfollowedAttempts(
        [...(isPersistent ? earlier : []), ...statements],
        session.followed,
      )) {
        session.attempt(kinds, line);
      }
      if (unread !== undefined) for (const kinds of kindsInText(code)) session.attempt(kinds, 0);
    }
    earlier.push(...statements);
    const { operations, shown } = session;
    const isParsed = errorLine === undefined && unread === undefined;
    const isCommentOnly = isParsed && statements.every(isIdle);
    const isNothing = operations.every(({ isNoOp, family }) => isNoOp || family === 'io');
    return {
      turn,
      operations,
      attempts: session.attempts,
      shown,
      isCommentOnly,
      isNoOp: isCommentOnly || (operations.length > 0 && isNothing),
      isPrintOnly: isParsed && onlyPrints(statements),
      hasSyntaxError: errorLine !== undefined,
      ...(raises !== undefined && { raises }),
      isIncomplete: gaveUp !== undefined,
      ...(gaveUp !== undefined && { gaveUp }),
    };
  });
}

function bindNames(
  { module }: Interpreter,
  session: Session,
  inputs: readonly InputImage[],
  { prelude = sandboxPrelude, aliases = [] }: AnalysisOptions,
): void {
  for (const [name, path] of Object.entries(prelude)) {
    module.variables.set(name, { kind: 'path', path });
  }
  const images = inputs.map(({ name, width, height, toCanonical = identity }): ImageValue => {
    const image = { id: name, form: 'pillow', width, height, source: name, toCanonical } as const;
    return { kind: 'image', image };
  });
  session.inputs = images;
  for (const value of images) module.variables.set(value.image.id, value);
  const [first] = images;
  if (first === undefined) return;
  for (const alias of aliases) module.variables.set(alias, session.alias(first));
}

function showMore(
  interpreter: Interpreter,
  session: Session,
  statements: readonly Statement[],
  { shows = {} }: AnalysisOptions,
): void {
  if (shows.savedFiles) {
    const saved = new Set(
      session.operations.filter(({ kind }) => kind === 'save').map(({ input }) => input),
    );
    for (const file of session.files.values()) if (saved.has(file.image.id)) session.show(file);
  }
  const last = statements.at(-1);
  if (shows.lastExpression && last?.kind === 'expression') {
    showIfImage(session, interpreter.lastValue);
  }
  for (const name of shows.results ?? []) {
    const value = interpreter.module.variables.get(name);
    if (value?.kind !== 'image') continue;
    showIfImage(session, value);
    break;
  }
}

function showIfImage(session: Session, value: Value | undefined): void {
  if (value?.kind === 'image') session.show(value);
}

/**
 * The tool use of a trajectory's code. Code that is an argument of typed calls starts afresh on the
 * image each call names, as CodeVision's tool has it; then the options' names do not apply.
 *
 * @param options.inputs default: the images of the prompt, each its own canonical frame
 */
export function analyzeTrajectory(
  trajectory: Trajectory,
  options: AnalysisOptions & { readonly inputs?: readonly InputImage[] } = {},
): readonly TurnToolUse[] {
  const { inputs = promptImages(trajectory) } = options;
  if (trajectory.turns.some(({ action }) => isKnownCall(action))) {
    return analyzeCalls(trajectory, inputs, options);
  }
  const turns = trajectory.turns.flatMap(({ action, result }, turn): TurnCode[] =>
    action.kind === 'code' ? [{ turn, code: action.code, ...(result && { result }) }] : [],
  );
  return analyzeCode(turns, inputs, options);
}

/** The names that the code of a call finds, and those in which its result is looked for. */
const callOptions: AnalysisOptions = {
  isPersistent: false,
  prelude: {
    ...sandboxPrelude,
    numpy: 'numpy',
    ...Object.fromEntries(
      ['Chops', 'Draw', 'Enhance', 'Filter', 'Ops'].map((name) => [
        `Image${name}`,
        `PIL.Image${name}`,
      ]),
    ),
  },
  aliases: ['img'],
  shows: { results: ['result', 'output', 'processed_image', 'img', 'image'] },
};

/** Whether what a call does to an image is known: it brings code, or names a tool of images. */
function isKnownCall(action: Action): boolean {
  return action.kind === 'toolCall' && (codeOf(action) !== undefined || isImageTool(action.name));
}

/** Every call by itself, on the image of its `image_index`: those given, then those it made. */
function analyzeCalls(
  { turns, segments }: Trajectory,
  inputs: readonly InputImage[],
  { thresholds }: AnalysisOptions,
): readonly TurnToolUse[] {
  const images: InputImage[] = [...inputs];
  const options = { ...callOptions, ...(thresholds && { thresholds }) };
  return turns.flatMap(({ action, result, segment }, turn) => {
    if (action.kind !== 'toolCall') return [];
    const { image_index: index = 0 } = action.arguments;
    const image = typeof index === 'number' ? images[index] : undefined;
    const made = segments[segment + 1]?.images ?? [];
    const code = codeOf(action) ?? codeOfTyped(action, image, made[0]);
    const given = image === undefined ? [] : [{ ...image, name: 'image' }];
    const uses =
      code === undefined
        ? []
        : analyzeCode([{ turn, code, ...(result && { result }) }], given, options);
    const toCanonical = uses[0]?.shown.at(-1)?.toCanonical;
    for (const { name, width, height } of made) {
      images.push({ name, width, height, ...(toCanonical && { toCanonical }) });
    }
    return uses;
  });
}

/** A typed call as code, where the image that it worked on is known. */
function codeOfTyped(
  { name, arguments: given }: Extract<Action, { kind: 'toolCall' }>,
  image: InputImage | undefined,
  shown: TrajectoryImage | undefined,
): string | undefined {
  if (image === undefined) return undefined;
  return codeOfTypedCall(name, given, image, shown);
}

/** The images of the prompt, each its own canonical frame. */
export function promptImages({ segments }: Trajectory): readonly InputImage[] {
  const prompt = segments.find(({ kind }) => kind === 'prompt');
  return (prompt?.images ?? []).map(({ name, width, height }) => ({ name, width, height }));
}
