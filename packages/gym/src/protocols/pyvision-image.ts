/**
 * PyVision-RL on images (arXiv:2602.20739, §3.1): the model writes Python between `<code>` tags,
 * reads `<interpreter>` output with images, and answers `<answer>\boxed{…}</answer>`.
 */
import { defineProtocol } from '../define-protocol.ts';
import type { MessagePart, Protocol } from '../protocol.ts';
import type { Task } from '../task.ts';
import {
  clue,
  observePyvision,
  onErrorField,
  parsePyvision,
  pyvisionEndsOn,
  pyvisionImageHand,
  pyvisionTags,
  writePyvision,
} from './pyvision.ts';

/** Options of `pyvisionImageWith`. */
export interface PyvisionImageOptions {
  /** `full` teaches the whole protocol; `short` is for policies trained on it that read little. */
  readonly prompt: 'full' | 'short';
  /** The paper ends a trajectory whose code fails; `continue` shows the error instead. */
  readonly onError: 'end' | 'continue';
}

/** The published protocol. */
export const pyvisionImage = defineProtocol({
  name: 'pyvision-image',
  description: 'PyVision-RL on images: Python in code tags, output in interpreter tags.',
  settings: { onError: onErrorField },
  create: ({ onError }) => pyvisionImageWith('pyvision-image', { prompt: 'full', onError }),
});

/** The same with a prompt of a few tokens, for policies too small to read instructions. */
export const pyvisionImageShort = defineProtocol({
  name: 'pyvision-image-short',
  description: 'PyVision-RL on images with a prompt of a few tokens, for very small policies.',
  settings: { onError: onErrorField },
  create: ({ onError }) => pyvisionImageWith('pyvision-image-short', { prompt: 'short', onError }),
});

/**
 * PyVision-RL's image protocol with the given options, under a name of its own: four tool turns in
 * training, 30 in evaluation, 31 images at most.
 */
export function pyvisionImageWith(name: string, options: PyvisionImageOptions): Protocol {
  return {
    name,
    paper: 'PyVision-RL, arXiv:2602.20739, §3.1, Fig. 8',
    stop: ['</code>'],
    tags: pyvisionTags,
    // Four turns in training (§4.2) and 30 in evaluation (§4); its code ends at 32 images.
    budgets: { toolTurns: 4, images: 31 },
    evaluationBudgets: { toolTurns: 30, images: 31 },
    // The public code stops an execution after 30 seconds.
    executionSeconds: 30,
    runsBeyondBudget: true,
    prompt: (task) => ({ user: options.prompt === 'full' ? fullPrompt(task) : shortPrompt(task) }),
    parse: parsePyvision,
    write: writePyvision,
    hand: pyvisionImageHand,
    observe: observePyvision,
    endsOn: (outcome) => pyvisionEndsOn(outcome, options.onError),
  };
}

/** Images as `<image_clue_k>` image `</image_clue_k>`. */
function promptImages(task: Task): readonly MessagePart[] {
  return task.images.flatMap((image) => clue(image.name, { kind: 'image', ...image }));
}

function shortPrompt(task: Task): readonly MessagePart[] {
  return [...promptImages(task), { kind: 'text', text: `\n${task.question}` }];
}

/** Our wording, in the order of the published template: persistence, tool, format, sizes, question. */
function fullPrompt(task: Task): readonly MessagePart[] {
  const names = task.images.map(({ name }) => `\`${name}\``).join(', ');
  const sizes = task.images
    .map(({ name, width, height }) => `${name}: Image Width: ${width}; Image Height: ${height}`)
    .join('\n');
  const text = `You are an agent: keep working until the question is solved, and end your turn only then.
Plan before each use of the tool, and think about its result afterwards.

Solve the question step by step. You can write Python code; a sandbox outside of you runs it and shows you what it prints and plots. Variables stay from one run to the next.
- The pictures are already read with PIL into the global variables ${names}, at their original resolution.
- For questions about pictures, use the tool whenever it helps: zoom in, rotate, raise the contrast, compute statistics.
- Show a picture with plt.show(); do not save files. Print values with print().
- Draw with matplotlib; do not use image libraries such as cv2 or PIL.
- Each run must be a complete script.
- What comes back stands between <interpreter> and </interpreter>.

Write code in this form:
<code>
\`\`\`python
# your code
\`\`\`
</code>
Give the final answer in this form:
<answer>
\\boxed{the answer}
</answer>

${sizes}

Question: ${task.question}
`;
  return [{ kind: 'text', text }, ...promptImages(task)];
}
