/**
 * What a process with an open device owes whoever started it: that it ends, and how. The checks are
 * pieces of JavaScript, since how a process is started, and finds a device there, is the caller's:
 *
 *   import … ; const device = openDevice(…);        // the caller's beginning
 *   [processWork(64)]                               // a row of launches, the last of which gives `y`
 *   [check.code]                                    // then: exit status, no signal, stdout
 */

export interface ProcessCheck {
  /** The sentence it proves. */
  readonly name: string;
  /** Statements of a module, `await` included, that find `device` and `y`. */
  readonly code: string;
  /** Of the process, which must not end by a signal. */
  readonly status: number;
  readonly stdout: string;
}

/** A row of products of ones; every element of `y`, the last, is `size`. Needs `gemm`, `device`. */
export function processWork(size: number, launches: number): string {
  return `const x = device.upload('f32', [${size}, ${size}], new Float32Array(${size * size}).fill(1));
    let y = device.forward(gemm, { x, w: x }).y;
    for (let i = 1; i < ${launches}; i++) y = device.forward(gemm, { x, w: x }).y;`;
}

const ended = (how: string, code: string, status: number): ProcessCheck => ({
  name: `a process with work queued does not hang or crash when it ends ${how}`,
  code,
  status,
  stdout: '',
});

export const processChecks: readonly ProcessCheck[] = [
  ended('at its own end', '', 0),
  ended('by process.exit', 'process.exit(3);', 3),
  ended(
    'by process.exit while a read waits',
    'void device.read(y).catch(() => {}); process.exit(4);',
    4,
  ),
  ended('by process.exit in the middle', 'setTimeout(() => process.exit(5), 50);', 5),
  ended(
    'by process.exit in the middle of a read',
    'setTimeout(() => process.exit(6), 50); for (;;) await device.read(y);',
    6,
  ),
  ended('after dispose', 'device.dispose();', 0),
  {
    name: 'a process stays alive for a read, and not for nothing',
    code: 'device.read(y).then((values) => console.log(values[0] === x.shape[0]));',
    status: 0,
    stdout: 'true\n',
  },
];
