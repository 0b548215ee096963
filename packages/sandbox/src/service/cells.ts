/** Cells of a notebook in one session: each gives its output, its value, what it showed, its error. */
import { parseJson } from '@saccade/http';
import { z } from 'zod';
import type { Outcome } from '../outcome.ts';
import { toBase64 } from '../outcome-json.ts';
import type { Session } from '../session.ts';
import type { RunResult } from './run-result.ts';
import { type Pace, readText } from './script.ts';

export interface CellResult {
  readonly stdout: string;
  readonly stderr: string;
  /** By media type, e.g. `text/plain` or, base64, `image/png`. */
  readonly display: readonly Readonly<Record<string, string>>[];
  readonly error: readonly { ename: string; evalue: string; traceback: readonly string[] }[];
}

export interface CellsRequest {
  readonly cells: readonly string[];
  /** Seconds for each cell; 0 for the sandbox's own limit. */
  readonly cellSeconds: number;
  /** The time that all cells have together, including the reading of their results. */
  readonly pace: Pace;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Runs a cell as notebooks do: an expression at its end is its value; what fails is told as data. */
const runner = `
def _run_cell(source, names):
    import ast, sys, traceback
    told = {'value': None, 'error': None}
    try:
        tree = ast.parse(source, '<cell>')
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, '<cell>', 'exec'), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), '<cell>', 'eval'), names)
            if hasattr(value, 'show') and hasattr(value, 'size') or hasattr(value, 'canvas'):
                names['display'](value)
            elif value is not None:
                told['value'] = repr(value)
    except MemoryError:
        raise
    except BaseException as error:
        frames = error.__traceback__.tb_next
        lines = traceback.format_exception(type(error), error, frames)
        told['error'] = {'ename': type(error).__name__, 'evalue': str(error), 'traceback': lines}
    return told
`;

/** Longest value or traceback of a cell, in JSON. */
const mostCharacters = 4 * 2 ** 20;

const told = z.object({
  value: z.string().nullable(),
  error: z
    .object({ ename: z.string(), evalue: z.string(), traceback: z.array(z.string()) })
    .nullable(),
});

export async function runCells(
  session: Session,
  request: CellsRequest,
): Promise<{
  readonly cells: readonly CellResult[];
  readonly driver: RunResult;
  /** The sandbox failed, not the code. */
  readonly isLost: boolean;
}> {
  const { pace } = request;
  const { limits, signal, left } = pace;
  const begin = performance.now();
  const elapsed = (): number => (performance.now() - begin) / 1000;
  const cells: CellResult[] = [];
  const end = (status: RunResult['status'], stderr: string): RunResult => ({
    status,
    execution_time: elapsed(),
    return_code: status === 'Finished' ? 0 : status === 'Error' ? 1 : null,
    stdout: '',
    stderr,
  });
  await session.execute(runner, { signal, wallSeconds: atLeast(left()) });
  for (const source of request.cells) {
    if (left() <= 0) return { cells, driver: end('TimeLimitExceeded', ''), isLost: false };
    const own = request.cellSeconds > 0 ? request.cellSeconds : limits.wallSeconds;
    const encoded = JSON.stringify(Buffer.from(source).toString('base64'));
    const code = `_told = _run_cell(__import__('base64').b64decode(${encoded}).decode(), globals())`;
    const outcome = await session.execute(code, {
      signal,
      wallSeconds: Math.min(own, atLeast(left())),
    });
    request.onOutcome(outcome);
    if (outcome.kind !== 'ok') {
      const status = outcome.kind === 'timeout' ? 'TimeLimitExceeded' : 'Error';
      const driver = end(status, outcome.error?.message ?? '');
      return { cells, driver, isLost: outcome.kind === 'infraError' };
    }
    const expression = "__import__('json').dumps(_told)";
    const answer = await readText(session, expression, mostCharacters, pace);
    if (left() <= 0) return { cells, driver: end('TimeLimitExceeded', ''), isLost: false };
    cells.push(cellResult(outcome, answer));
  }
  return { cells, driver: end('Finished', ''), isLost: false };
}

/** An execution needs some time, however little is left. */
const atLeast = (seconds: number): number => Math.max(0.001, seconds);

function cellResult({ stdout, stderr, images }: Outcome, answer: string | undefined): CellResult {
  const parsed = told.safeParse(jsonOf(answer));
  const { value, error } = parsed.success ? parsed.data : { value: null, error: null };
  const shown = images.map(({ png, width, height }) => ({
    'text/plain': `<image of ${width}x${height} pixels>`,
    'image/png': toBase64(png),
  }));
  const display = value === null ? shown : [...shown, { 'text/plain': value }];
  return { stdout, stderr, display, error: error === null ? [] : [error] };
}

function jsonOf(text: string | undefined): unknown {
  try {
    return parseJson(text ?? 'null');
  } catch {
    return null; // the code got in the way of its own report
  }
}
