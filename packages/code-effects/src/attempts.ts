/**
 * The operations that code may have tried, followed or not. A bonus wants certainty, so it reads
 * `operations`; a penalty wants any possible attempt, so it reads these.
 *
 * Code that is followed to its end gives exactly its operations. Where it leaves the followed world (a
 * call of something unknown, text that is run as code, a class, a decorator, a handler), every
 * operation that the code names without having been followed there counts as attempted.
 */
import type { OperationKind } from './operation-kind.ts';
import type { Statement } from './syntax/ast.ts';

/** One possible use of an image operation. */
export interface Attempt {
  /** It is one of these; `any` for text that is run as code and is not known. */
  readonly kinds: readonly OperationKind[] | 'any';
  /** Line in the code of the turn, from 1; 0 where it is not known. */
  readonly line: number;
}

const quarterTurns: readonly OperationKind[] = ['rotate_90', 'rotate_180', 'rotate_270'];
const flips: readonly OperationKind[] = ['flip_horizontal', 'flip_vertical'];
const anyOrientation: readonly OperationKind[] = [...quarterTurns, ...flips, 'transpose'];

/** Operations that a function or method of this name may perform on an image, in any library. */
const kindsByName: Readonly<Record<string, readonly OperationKind[]>> = {
  rotate: quarterTurns,
  rotate_bound: quarterTurns,
  rot90: quarterTurns,
  getRotationMatrix2D: quarterTurns,
  transpose: anyOrientation,
  flip: flips,
  fliplr: ['flip_horizontal'],
  flipud: ['flip_vertical'],
  mirror: ['flip_horizontal'],
  hflip: ['flip_horizontal'],
  vflip: ['flip_vertical'],
  swapaxes: ['transpose', 'crop'],
  moveaxis: ['transpose', 'crop'],
  rollaxis: ['transpose', 'crop'],
  warpAffine: anyOrientation,
  warpPerspective: anyOrientation,
  remap: anyOrientation,
  affine_transform: anyOrientation,
  transform: anyOrientation,
  crop: ['crop'],
};

/** The kinds that a name may stand for; undefined for a name of no such operation. */
export function kindsNamed(name: string): readonly OperationKind[] | undefined {
  return Object.hasOwn(kindsByName, name) ? kindsByName[name] : undefined;
}

/** Functions that look a function up by its name, or run text as code. */
export const dispatchers: ReadonlySet<string> = new Set([
  'getattr',
  'exec',
  'eval',
  'compile',
  '__import__',
  'import_module',
  'methodcaller',
  'attrgetter',
  '__getattribute__',
  'globals',
  'locals',
  'vars',
  'run_path',
  'run_module',
  'runsource',
  'builtins',
  '__builtins__',
  '__dict__',
]);

/** Operations that code run from text may perform: those that its words name, or `any`. */
export function kindsInText(text: string): readonly Attempt['kinds'][] {
  const words = new Set(text.match(/[A-Za-z_]\w*/g) ?? []);
  if ([...words].some((word) => dispatchers.has(word))) return ['any'];
  const named = [...words].map(kindsNamed).filter((kinds) => kinds !== undefined);
  return /\[[^\]]*::\s*-\s*1/.test(text) ? [...named, flips] : named;
}

/**
 * Operations that statements name at places that were not followed.
 *
 * @param followed nodes of calls that were followed, and so have been judged
 * @param untilLine an execution is known to have ended with an error there
 */
export function unfollowedAttempts(
  statements: readonly Statement[],
  followed: WeakSet<object>,
  untilLine: number = Number.POSITIVE_INFINITY,
): readonly Attempt[] {
  const found: Attempt[] = [];
  const pending: unknown[] = [...statements];
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { kind, line = 0 } = node as { kind?: string; line?: number };
    if (line > untilLine || followed.has(node)) continue;
    if (kind === 'attribute' || kind === 'name') {
      const { name } = node as { name: string };
      const kinds = kind === 'attribute' ? kindsNamed(name) : undefined;
      if (kinds !== undefined) found.push({ kinds, line });
      if (dispatchers.has(name)) found.push({ kinds: 'any', line });
    } else if (kind === 'import') {
      for (const { path } of (node as Statement & { kind: 'import' }).names) {
        const kinds = kindsNamed(path.split('.').at(-1) ?? '');
        if (kinds !== undefined) found.push({ kinds, line });
      }
    } else if (kind === 'subscript' && reverses(node)) found.push({ kinds: flips, line });
    pending.push(...Object.values(node));
  }
  return found;
}

/** `x[:, ::-1]` and `x[::-1, :]`; the reversed third axis of an image is its color. */
function reverses(node: object): boolean {
  const { indices } = node as { indices: readonly { kind: string; step?: { kind: string } }[] };
  return (
    indices.length === 2 &&
    indices[0]?.kind !== 'ellipsis' &&
    indices.some(({ kind, step }) => kind === 'slice' && step?.kind === 'unary')
  );
}
