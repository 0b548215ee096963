/** Names that submitted code is refused for, before it runs. A courtesy, not a boundary. */

/**
 * Dotted Python names; one that ends in `*` stands for all names that begin so. They cover what
 * cannot work here (nobody answers `input()`, no other programs, no more processes) and tell the
 * model so at once. `getattr` gets around them: what must not happen, the isolation prevents.
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
