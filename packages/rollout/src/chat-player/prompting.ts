/** What a model behind a chat API is asked for: an answer at once, thoughts, tools, or all of it. */
import type { MessagePart, Protocol, Task } from '@saccade/gym';

/**
 * How a baseline is prompted, as in Table 3 of VISTA-R1 (arXiv:2511.19773):
 *
 * - `direct` the answer alone, without tools and thoughts;
 * - `reasoning` thoughts, then the answer, without tools;
 * - `tools` the protocol's prompt, without thoughts;
 * - `both` the protocol's prompt, with thoughts;
 * - `protocol` the protocol's prompt as it stands.
 */
export const promptings = ['protocol', 'direct', 'reasoning', 'tools', 'both'] as const;

/** One of `promptings`. */
export type Prompting = (typeof promptings)[number];

const words: Readonly<Record<Exclude<Prompting, 'protocol'>, string>> = {
  direct:
    'Answer at once: no reasoning, no tools, no code. Write nothing but the answer, in this form:',
  reasoning: 'Think step by step in words; there are no tools. Then give the answer in this form:',
  tools:
    'Do not reason aloud. Each of your turns is a use of the tool or the answer, and nothing else.',
  both: 'Before each use of the tool and before the answer, think step by step.',
};

/**
 * The protocol with another prompt; what it reads, runs and shows stays. Without tools its budget is
 * no tool turn, so that a call ends the trajectory.
 */
export function withPrompting(protocol: Protocol, prompting: Prompting): Protocol {
  if (prompting === 'protocol') return protocol;
  const asksFor = words[prompting];
  if (prompting === 'tools' || prompting === 'both') {
    return {
      ...protocol,
      prompt(task) {
        const { user, ...rest } = protocol.prompt(task);
        return { ...rest, user: [...user, { kind: 'text', text: `\n${asksFor}` }] };
      },
    };
  }
  const { images } = protocol.budgets;
  return {
    ...protocol,
    budgets: { toolTurns: 0, images },
    evaluationBudgets: { toolTurns: 0, images },
    prompt: (task) => ({ user: question(protocol, task, asksFor) }),
  };
}

function question(protocol: Protocol, task: Task, asksFor: string): readonly MessagePart[] {
  const images = protocol.prompt(task).user.filter(({ kind }) => kind === 'image');
  const form = protocol.write({ kind: 'answer', answer: 'your answer' }).trim();
  return [...images, { kind: 'text', text: `${task.question}\n\n${asksFor}\n${form}` }];
}
