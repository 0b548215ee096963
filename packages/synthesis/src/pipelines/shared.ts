/** Parts that pipelines share: candidates as samples, settings of filters, counts of steps. */
import type { DialogSample } from '@saccade/data/formats';
import { messagesOf } from '@saccade/data/formats';
import type { Protocol, Task } from '@saccade/gym';
import type { Message } from '@saccade/trajectory';
import type { SynthesisContext } from '../context.ts';
import { densify } from '../densify.ts';
import type { FilterCount } from '../filter.ts';
import type { Fact, StepCount } from '../pipeline.ts';
import type { Candidate } from '../play-tasks.ts';
import { tagsOf } from '../play-tasks.ts';

/**
 * A kept candidate as a sample, with facts about it.
 *
 * @param protocol writes the prompt, where the teacher was told more than a policy will be
 */
export function sampleOf(
  { task, trajectory, isCorrect, facts }: Candidate,
  protocol?: Pick<Protocol, 'prompt'>,
): DialogSample {
  const messages = messagesOf(trajectory);
  return {
    id: trajectory.id,
    messages: protocol === undefined ? messages : withPrompt(messages, protocol, task),
    tags: { ...tags(task), isCorrect, ...facts },
  };
}

function withPrompt(
  messages: readonly Message[],
  protocol: Pick<Protocol, 'prompt'>,
  task: Task,
): readonly Message[] {
  const { system, user } = protocol.prompt(task);
  const content = user.map((part) => {
    if (part.kind === 'text') return { type: 'text' as const, text: part.text };
    const { name, png, origin } = part;
    return { type: 'image' as const, image: png, name, ...(origin && { origin }) };
  });
  return [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    { role: 'user', content },
    ...messages.slice(messages.findIndex(({ role }) => role === 'assistant')),
  ];
}

/** The facts of a task that every sample has. */
export function tags(task: Task): Readonly<Record<string, string>> {
  return { taskId: task.id, ...tagsOf(task) };
}

/** What filters did, as steps of a pipeline. */
export function stepsOf(counts: readonly FilterCount[]): readonly StepCount[] {
  return counts.map(({ filter, ...rest }) => ({ step: filter, ...rest }));
}

/** A step that only drops, by reason. */
export function stepCount(
  step: string,
  given: number,
  reasons: Readonly<Record<string, number>>,
): StepCount {
  const dropped = Object.values(reasons).reduce((sum, count) => sum + count, 0);
  return { step, given, kept: given - dropped, reasons };
}

/** At most so many candidates of a task, the first ones. */
export function firstOfTask(
  candidates: readonly Candidate[],
  most: number,
): { readonly kept: readonly Candidate[]; readonly count: StepCount } {
  const seen = new Map<string, number>();
  const kept = candidates.filter(({ task }) => {
    const earlier = seen.get(task.id) ?? 0;
    seen.set(task.id, earlier + 1);
    return earlier < most;
  });
  const more = candidates.length - kept.length;
  const reasons = more === 0 ? {} : { 'another of its task is kept': more };
  return { kept, count: stepCount('one of a task', candidates.length, reasons) };
}

/** Samples with fuller thoughts where there is a judge to write them; else as they are. */
export async function densified(
  candidates: readonly Candidate[],
  maxTokens: number,
  { judge, teacher, signal, onEvent }: SynthesisContext,
): Promise<{ readonly samples: readonly DialogSample[]; readonly facts: readonly Fact[] }> {
  if (judge === undefined) {
    const message =
      'No judge is given, so thoughts are not densified. Give --judge-url to densify.';
    onEvent({ kind: 'warning', message });
    return {
      samples: candidates.map((one) => sampleOf(one)),
      facts: [{ name: 'densified turns', value: 0 }],
    };
  }
  let [before, after, unchanged, turns] = [0, 0, 0, 0];
  const samples: DialogSample[] = [];
  for (const candidate of candidates) {
    const { protocol } = teacher;
    const options = { model: judge, protocol, maxTokens, ...(signal && { signal }) };
    const made = await densify(candidate.task, candidate.trajectory, options);
    before += made.before;
    after += made.after;
    unchanged += made.unchanged;
    turns += candidate.trajectory.turns.length;
    samples.push({ ...sampleOf(candidate), messages: made.messages });
    onEvent({ kind: 'progress', stage: 'densify', done: samples.length, total: candidates.length });
  }
  return {
    samples,
    facts: [
      { name: 'densified turns', value: turns - unchanged },
      { name: 'turns that kept their thought', value: unchanged },
      { name: 'characters of thoughts a turn, before', value: Math.round(before / (turns || 1)) },
      { name: 'characters of thoughts a turn, after', value: Math.round(after / (turns || 1)) },
    ],
  };
}
