/** Names that submitted code is refused for, before it runs. A courtesy, not a boundary. */

/**
 * Dotted Python names; a trailing `*` matches all names with that prefix. They cover what cannot
 * work here (`input()` without input, other programs, more processes), so that the model is told at
 * once. `getattr` circumvents them: the isolation is what prevents harm.
 */
export const defaultForbidden: readonly string[] = [
  'input',
  'breakpoint',
  'os.system',
  'os.popen',
  'os.fork*',
  'os.exec*',
  'os.spawn*',
  'os.posix_spawn*',
  'os.kill*',
  'subprocess',
  'multiprocessing',
  'pty',
  'ctypes',
];

/** Globals of every session, as PyVision's runtime has them. */
export const defaultPrelude: string = [
  'import base64, io, math',
  'import matplotlib.pyplot as plt',
  'import numpy as np',
  'from PIL import Image',
].join('\n');
