/** Shows an error to the user: the fact from where it happened, and what to do about it here. */
import { element } from './element.ts';
import type { Fault } from './messages.ts';

const REMEDIES: Readonly<Record<string, string>> = {
  missing:
    'Open this page in a current Chrome, Edge, Safari or Firefox, over https or on localhost, with ' +
    'hardware acceleration switched on. On Linux, Chrome may need chrome://flags/#enable-unsafe-webgpu ' +
    'and a Vulkan driver.',
  state:
    'A GPU is lost when its driver restarts, the computer slept, or it ran out of memory. Close other ' +
    'pages that use it, then press Start; if it happens again, choose the size “tiny”.',
  unsupported: 'Choose the size “tiny”, or another GPU.',
};

const OTHERWISE = 'Press Start to begin again. If it happens again, reload the page.';

/** The parts of a message about a fault. */
export function describeFault({ code, message }: Fault): readonly HTMLElement[] {
  return [
    element('p', {}, element('strong', {}, message)),
    element('p', {}, REMEDIES[code] ?? OTHERWISE),
  ];
}
