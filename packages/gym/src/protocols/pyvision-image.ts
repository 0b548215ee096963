/**
 * PyVision-RL on pictures (arXiv:2602.20739, §3.1): the model writes Python between `<code>` tags,
 * reads `<interpreter>` output with pictures, and answers `<answer>\boxed{…}</answer>`.
 */
import type { Outcome } from '@saccade/sandbox';
import type { Action, StopReason } from '@saccade/trajectory';
import type { MessagePart, Protocol } from '../protocol.ts';
import type { Task } from '../task.ts';

export interface PyvisionImageOptions {
  /** `full` teaches the whole protocol; `short` is for policies trained on it that read little. */
  readonly prompt: 'full' | 'short';
  /** The paper ends a trajectory whose code fails; `continue` shows the error instead. */
  readonly onError: 'end' | 'continue';
}

/** The published protocol. */
export const pyvisionImage: Protocol = pyvisionImageWith('pyvision-image', {
  prompt: 'full',
  onError: 'end',
});

/** The same with a prompt of a few tokens, for policies too small to read instructions. */
export const pyvisionImageShort: Protocol = pyvisionImageWith('pyvision-image-short', {
  prompt: 'short',
  onError: 'end',
});

export function pyvisionImageWith(name: string, options: PyvisionImageOptions): Protocol {
  return {
    name,
    stop: ['</code>'],
    prompt: (task) => ({ user: options.prompt === 'full' ? fullPrompt(task) : shortPrompt(task) }),
    parse,
    observe,
    endsOn: (outcome) => endsOn(outcome, options.onError),
  };
}

/** Pictures as `<image_clue_k>` picture `</image_clue_k>`. */
function pictures(task: Task): readonly MessagePart[] {
  return task.images.flatMap((image) => clue(image.name, { kind: 'image', ...image }));
}

function clue(name: string, image: MessagePart): readonly MessagePart[] {
  return [{ kind: 'text', text: `<${name}>` }, image, { kind: 'text', text: `</${name}>` }];
}

function shortPrompt(task: Task): readonly MessagePart[] {
  return [...pictures(task), { kind: 'text', text: `\n${task.question}` }];
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
  return [{ kind: 'text', text }, ...pictures(task)];
}

/**
 * An answer comes first; then the last fenced block inside `<code>`; then the last bare fence.
 */
function parse(text: string): Action {
  const answer = lastBetween(text, '<answer>', '</answer>');
  if (answer !== undefined) return { kind: 'answer', answer: answer.trim() };
  // The last opening tag, so that an unclosed block before it does not swallow the fences between.
  const tag = text.lastIndexOf('<code>');
  const closed = text.indexOf('</code>', tag);
  const tagged = tag < 0 || closed < 0 ? undefined : lastFence(text.slice(tag + 6, closed));
  const code = tagged ?? lastFence(text);
  if (code !== undefined) return { kind: 'code', code };
  return { kind: 'invalid', reason: 'noCodeNorAnswer' };
}

/** The contents of the last closed ```python fence. */
function lastFence(text: string): string | undefined {
  return [...text.matchAll(/```python\s((?:(?!```).)*)```/gs)].at(-1)?.[1];
}

function lastBetween(text: string, open: string, close: string): string | undefined {
  const end = text.lastIndexOf(close);
  const start = end < 0 ? -1 : text.lastIndexOf(open, end);
  return start < 0 ? undefined : text.slice(start + open.length, end);
}

function observe(outcome: Outcome, imageIndex: number): readonly MessagePart[] {
  const parts: MessagePart[] = [{ kind: 'text', text: '<tool_response>\n<interpreter>' }];
  const printed = outcome.stdout.trim();
  if (printed !== '') parts.push({ kind: 'text', text: `Text Result:\n${printed}\n` });
  if (outcome.error !== undefined) {
    const { type, message } = outcome.error;
    parts.push({ kind: 'text', text: `Error:\n${type}: ${message}\n` });
  } else if (outcome.kind !== 'ok') {
    parts.push({ kind: 'text', text: `Error:\nThe execution ended with: ${outcome.kind}.\n` });
  }
  if (outcome.images.length > 0) parts.push({ kind: 'text', text: 'Image Result:\n' });
  outcome.images.forEach((image, i) => {
    const name = `image_clue_${imageIndex + i}`;
    const { png, width, height, origin } = image;
    parts.push(
      ...clue(name, { kind: 'image', name, png, width, height, ...(origin && { origin }) }),
    );
  });
  parts.push({ kind: 'text', text: '</interpreter>\n\n</tool_response>' });
  return joinTexts(parts);
}

/** Neighbouring texts as one: a boundary between parts must not become a token boundary. */
function joinTexts(parts: readonly MessagePart[]): readonly MessagePart[] {
  const joined: MessagePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      joined[joined.length - 1] = { kind: 'text', text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}

/** A failed run ends the trajectory; so does one that gives nothing to read or look at. */
function endsOn(outcome: Outcome, onError: 'end' | 'continue'): StopReason | undefined {
  if (onError === 'continue') return undefined;
  const isEmpty = outcome.stdout.trim() === '' && outcome.images.length === 0;
  return outcome.kind !== 'ok' || isEmpty ? 'toolError' : undefined;
}
