/**
 * Checks that a process with an open device ends, and ends the right way. The checks are pieces of
 * JavaScript, because the caller decides how to start a process and open a device in it:
 *
 *   import … ; const device = openDevice(…);        // the caller's first lines
 *   [processWork(64)]                              // launches, the last of which gives `y`
 *   [check.code]                                    // then: exit status, no signal, stdout
 */

/** A requirement on a process that has a device open, as code to run in a child process. */
export interface ProcessCheck {
  /** The sentence it proves. */
  readonly name: string;
  /** Statements of a module that use `device` and `y`; top-level `await` is allowed. */
  readonly code: string;
  /** Expected exit status. An end by a signal fails the check. */
  readonly status: number;
  /** Expected standard output, exactly. */
  readonly stdout: string;
}

/**
 * Code that queues products of two [size, size] matrices of ones. Every element of `y`, the last
 * product, is `size`. The code needs `gemm` and `device` in scope.
 */
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

/**
 * The ways a process can end while the device has work queued: at its end, by `process.exit`,
 * during a read, after `dispose`. None may hang, crash, or change the exit status.
 */
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
