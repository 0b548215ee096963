/**
 * PyVision-RL on videos (arXiv:2602.20739, §3.1 and Fig. 9): no frame is in the context, the runtime
 * has each video as a decord-like reader, and the model plots the frames it wants to see.
 */
import { defineProtocol } from '../define-protocol.ts';
import type { MessagePart, Protocol } from '../protocol.ts';
import type { Task, TaskVideo } from '../task.ts';
import {
  clue,
  observePyvision,
  onErrorField,
  parsePyvision,
  pyvisionEndsOn,
  pyvisionTags,
  pyvisionVideoHand,
  writePyvision,
} from './pyvision.ts';

/** Options of `pyvisionVideoWith`. */
export interface PyvisionVideoOptions {
  /** `full` teaches the whole protocol; `short` is for policies trained on it that read little. */
  readonly prompt: 'full' | 'short';
  /** The paper ends a trajectory whose code fails; `continue` shows the error instead. */
  readonly onError: 'end' | 'continue';
}

/** The published protocol. */
export const pyvisionVideo = defineProtocol({
  name: 'pyvision-video',
  description: 'PyVision-RL on videos: Python in code tags, output in interpreter tags.',
  settings: { onError: onErrorField },
  create: ({ onError }) => pyvisionVideoWith('pyvision-video', { prompt: 'full', onError }),
});

/** The same with a prompt of a few tokens, for policies too small to read instructions. */
export const pyvisionVideoShort = defineProtocol({
  name: 'pyvision-video-short',
  description: 'PyVision-RL on videos with a prompt of a few tokens, for very small policies.',
  settings: { onError: onErrorField },
  create: ({ onError }) => pyvisionVideoWith('pyvision-video-short', { prompt: 'short', onError }),
});

/**
 * A task's images, if it has some, are frames given from the start (the template's variant with a
 * hint); new ones are numbered on from there, from 0 without.
 */
export function pyvisionVideoWith(name: string, options: PyvisionVideoOptions): Protocol {
  return {
    name,
    paper: 'PyVision-RL, arXiv:2602.20739, §3.1, Fig. 9',
    stop: ['</code>'],
    tags: pyvisionTags,
    // As on images: 4 turns in training (§4.2), 30 in evaluation (§4), 32 images in the code.
    budgets: { toolTurns: 4, images: 31 },
    evaluationBudgets: { toolTurns: 30, images: 31 },
    // The public code stops an execution after 30 seconds.
    executionSeconds: 30,
    runsBeyondBudget: true,
    prompt: (task) => ({ user: options.prompt === 'full' ? fullPrompt(task) : shortPrompt(task) }),
    parse: parsePyvision,
    write: writePyvision,
    hand: pyvisionVideoHand,
    observe: observePyvision,
    endsOn: (outcome) => pyvisionEndsOn(outcome, options.onError),
  };
}

/** Frames that are given from the start. */
function givenFrames(task: Task): readonly MessagePart[] {
  return task.images.flatMap((image) => clue(image.name, { kind: 'image', ...image }));
}

function shortPrompt(task: Task): readonly MessagePart[] {
  return [...givenFrames(task), { kind: 'text', text: `\n${task.question}` }];
}

/** Our wording, in the order of Fig. 9: persistence, tool, notes, format, facts, question. */
function fullPrompt(task: Task): readonly MessagePart[] {
  const videos = task.videos ?? [];
  const names = videos.map(({ name }) => `\`${name}\``).join(', ');
  const [first] = videos;
  const text = `You are an agent: keep working until the question is solved, and end your turn only then.
Plan before each use of the tool, and think about its result afterwards.

Solve the question step by step. You can write Python code; a sandbox outside of you runs it and shows you what it prints and plots. Variables stay from one run to the next.
- The videos are already open with VideoReader in the global variables ${names}: len() counts the frames, reader[i].asnumpy() is frame i, reader.get_avg_fps() tells frames per second.
- For questions about pictures and videos, use the tool whenever it helps: sample frames, zoom in, rotate, raise the contrast, compute statistics.
Notes:
1. Show a picture with plt.show(); do not save files.
2. Draw with matplotlib; load no other library for pictures.
3. You do not see the videos. To look at one, sample frames and show them with plt.show().
4. Print values with print().
5. If the frames you have seen are not enough, sample more of them from \`${first?.name ?? 'video_clue_0'}\`.
What comes back stands between <interpreter> and </interpreter>. Each run must be a complete script.

Write code in this form:
<code>
\`\`\`python
# your code
\`\`\`
</code>

Video information:
${videos.map(describe).join('\n')}

Question: ${task.question}

Give the final answer in this form:
<answer>
\\boxed{the answer}
</answer>
`;
  return [{ kind: 'text', text }, ...givenFrames(task)];
}

function describe({ name, width, height, framesPerSecond, frameCount }: TaskVideo): string {
  const seconds = Number((frameCount / framesPerSecond).toFixed(2));
  return (
    `${name}: Video Width: ${width}; Video Height: ${height}; ` +
    `Frames per second: ${framesPerSecond}; Frames: ${frameCount}; Seconds: ${seconds}`
  );
}
