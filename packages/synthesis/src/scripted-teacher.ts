/**
 * A teacher that reads the truth of the tasks, as a chat server: to try pipelines out, and to test them.
 * It errs as often as it is told, so that filters have something to drop.
 */
import { createHash } from 'node:crypto';
import {
  openScriptedServer,
  type ScriptedAnswer,
  type ScriptedServer,
  type SentRequest,
  sentText,
} from '@saccade/chat/scripted-server';
import { randomAt } from '@saccade/core';
import {
  type Protocol,
  type Step,
  stepAction,
  type Task,
  type TurnTool,
  turnBox,
  turnTools,
} from '@saccade/gym';

/** How well the teacher plays. */
export interface ScriptedTeacherOptions {
  readonly tasks: readonly Task[];
  readonly protocol: Protocol;
  readonly seed: number;
  /** Probability that the answer is wrong. */
  readonly wrongAnswer: number;
  /** Probability that a step goes to a wrong place, or turns the wrong way. */
  readonly wrongStep: number;
  /** Probability that the code of a step is broken. */
  readonly brokenCode: number;
  /** Probability that it answers although steps are left. */
  readonly answersEarly: number;
  /** Whether it says what it thinks; very small policies learn to act alone. Default true. */
  readonly thinks?: boolean;
  readonly port?: number;
}

type Box = readonly [number, number, number, number];

/** Starts the teacher. It knows a task by the bytes of its first image. */
export async function openScriptedTeacher(
  options: ScriptedTeacherOptions,
): Promise<ScriptedServer> {
  const byImage = new Map(
    options.tasks.flatMap((task) => {
      const [image] = task.images;
      return image === undefined ? [] : [[digest(Buffer.from(image.png).toString('base64')), task]];
    }) as [string, Task][],
  );
  const { port } = options;
  return await openScriptedServer((request) => reply(request, byImage, options), {
    ...(port !== undefined && { port }),
    keepsRequests: false,
  });
}

const digest = (base64: string): string => createHash('sha256').update(base64).digest('hex');

function reply(
  request: SentRequest,
  byImage: ReadonlyMap<string, Task>,
  options: ScriptedTeacherOptions,
): ScriptedAnswer {
  const urls = request.messages.flatMap(({ content }) =>
    typeof content === 'string' || content === null
      ? []
      : content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : [])),
  );
  const task = byImage.get(digest(urls[0]?.split(',')[1] ?? ''));
  const text = sentText(request);
  const boundary = /GRADE (\w+) <grade>/.exec(text)?.[1];
  if (boundary !== undefined) return { say: grade(text, boundary, task) };
  if (text.includes('SHORT THOUGHT')) return { say: thought(text) };
  if (task === undefined) return { status: 400, body: 'The first image is of no task.' };
  return { say: turn(request, task, options) };
}

/** Grades as a judge that believes what it reads: 1 for what is about the task, 0 for what asks for facts. */
function grade(text: string, boundary: string, task: Task | undefined): string {
  const isKnowledge = text.includes('takes knowledge that neither');
  const best = text.includes('3 if the image') ? 3 : 1;
  const metadata = task?.metadata ?? {};
  const value = isKnowledge
    ? Number(metadata.needsKnowledge === true)
    : metadata.labelIsWrong === true
      ? 0
      : best;
  return `GRADE ${boundary} ${value}`;
}

function thought(text: string): string {
  const question = /QUESTION\n(.*)/.exec(text)?.[1] ?? '';
  return (
    `The question is: ${question} What has been shown so far does not settle it yet, or has just settled ` +
    'it, so I compare it with what is asked. The next action follows from that.'
  );
}

/** A step, or a call of a tool that no step stands for, such as one that reads codes. */
type Planned = Step | { readonly kind: 'call'; readonly name: string };

/** The steps that solve a task: a turn where it lies on its side, a look at its box, a named tool. */
function stepsOf({ metadata, images: [image] }: Task): readonly Planned[] {
  const { requiredTools, box } = metadata;
  const tools = Array.isArray(requiredTools) ? (requiredTools as string[]) : ['crop'];
  const size = image?.width ?? 1;
  return tools.flatMap((tool): readonly Planned[] => {
    const turned = turnTools.find((one) => one === tool);
    if (turned !== undefined) return [{ kind: 'turn', tool: turned }];
    if (tool !== 'crop') return [{ kind: 'call', name: tool }];
    return Array.isArray(box) ? [{ kind: 'look', box: around(box as unknown as Box, size) }] : [];
  });
}

/** A box with a margin, within the image. */
function around([left, top, right, bottom]: Box, size: number, margin = 0): Box {
  const fit = (value: number): number => Math.max(0, Math.min(size, Math.round(value)));
  return [fit(left - margin), fit(top - margin), fit(right + margin), fit(bottom + margin)];
}

function turn(request: SentRequest, task: Task, options: ScriptedTeacherOptions): string {
  const { protocol, seed, thinks = true } = options;
  const said = request.messages.filter(({ role }) => role === 'assistant').length;
  const last = request.messages.at(-1);
  const told = last === undefined ? '' : sentText({ model: '', messages: [last] });
  const random = randomAt(seed, 'teacher', task.id, said, request.seed ?? 0);
  const answer = (): string => {
    const isWrong = random.uniform() < options.wrongAnswer;
    const value = isWrong ? String((Number(task.answer) + 1) % 10) : task.answer;
    return protocol.write({ kind: 'answer', answer: value }, thinks ? 'I have seen enough.' : '');
  };
  const plan = stepsOf(task);
  const note = /\[Note to the writer: ([\s\S]*)\]/.exec(told)?.[1];
  const first = request.messages.find(({ role }) => role === 'user');
  const start = first === undefined ? '' : sentText({ model: '', messages: [first] });
  const names = protocol
    .prompt(task)
    .user.flatMap((part) => (part.kind === 'image' ? [part.name] : []));
  const isDirect = start.includes('Answer at once') || start.includes('no tools');
  const isAnswerDue =
    note === undefined ? said >= plan.length || isDirect : note.includes('The answer is');
  if (isAnswerDue) return answer();
  if (note === undefined && random.uniform() < options.answersEarly) return answer();
  const { step, before } = nextStep(task, plan, said, note);
  const size = task.images[0]?.width ?? 1;
  const wrong = random.uniform() < options.wrongStep;
  const taken = wrong ? mistakenStep(step, size, random.integer(1_000_000)) : step;
  const action =
    taken.kind === 'call'
      ? ({ kind: 'toolCall', name: taken.name, arguments: {} } as const)
      : stepAction(protocol, taken, { images: names, videos: [], before });
  const isBroken = random.uniform() < options.brokenCode;
  const looks = 'I look at the place that the question is about.';
  const text = protocol.write(action, thinks ? looks : '');
  return isBroken ? text.replace(/\.(crop|rotate|transpose)\(/, '.$1_to(') : text;
}

/** The step that is due: by the number of turns, or by the note of a guided example. */
function nextStep(
  task: Task,
  plan: readonly Planned[],
  said: number,
  note: string | undefined,
): { readonly step: Planned; readonly before: readonly Step[] } {
  const isStep = (one: Planned): one is Step => one.kind !== 'call';
  const turns = plan.filter(isStep).filter(({ kind }) => kind === 'turn');
  if (note === undefined) {
    return { step: plan[said] as Planned, before: plan.slice(0, said).filter(isStep) };
  }
  const tool = /; (\w+) puts it right/.exec(note)?.[1];
  if (tool !== undefined) return { step: { kind: 'turn', tool: tool as TurnTool }, before: [] };
  if (!note.includes('What is asked about lies at')) {
    // An error is to be put right: the note has no goal, so the plan's first open step is.
    return { step: plan[Math.min(said - 1, plan.length - 1)] as Planned, before: [] };
  }
  const window = /window (\d+) of (\d+)/.exec(note);
  const [at, of] = [Number(window?.[1] ?? 1), Number(window?.[2] ?? 1)];
  const size = task.images[0]?.width ?? 1;
  const box = task.metadata.box as Box;
  const margin = ((of - at) * size) / (2 * of);
  const step: Step = { kind: 'look', box: around(box, size, margin) };
  return { step, before: turns };
}

function mistakenStep(step: Planned, size: number, salt: number): Planned {
  if (step.kind === 'turn') {
    return { kind: 'turn', tool: step.tool === 'rotate_180' ? 'rotate_90' : 'rotate_180' };
  }
  if (step.kind !== 'look') return step;
  const [left, top, right, bottom] = step.box;
  const [width, height] = [right - left, bottom - top];
  const x = (left + width + (salt % Math.max(1, size - 2 * width))) % Math.max(1, size - width);
  return { kind: 'look', box: turnBox(undefined, size, [x, top, x + width, top + height]) };
}
