/**
 * VISTA-R1 (arXiv:2511.19773, §5.2, Appendix E and Fig. 9): typed tools, called by JSON with the
 * tool's name, the task it is for and arguments; a thought before every call and every answer.
 */
import { DataError } from '@saccade/core';
import { choice, text } from '@saccade/core/settings';
import type { Outcome } from '@saccade/sandbox';
import {
  imageFlipTool,
  imageRotateTool,
  imageTools,
  imageZoomInTool,
  refused,
  type Tool,
} from '@saccade/tools';

import type { Action } from '@saccade/trajectory';
import { defineProtocol } from '../define-protocol.ts';
import { currentImage, type Hand, type StepPlace } from '../hand.ts';
import type { MessagePart, ObservationPlace, Protocol } from '../protocol.ts';
import type { Task } from '../task.ts';
import { callClose, callOpen, callTexts, isJsonObject, readJsonObject } from './calls.ts';
import { joinTexts, lastBetween, tagEscaper, textPart } from './markup.ts';

/** Options of `vistaWith`. */
export interface VistaOptions {
  /** Tools that the model may call. */
  readonly tools: readonly Tool[];
  /** The kind of question, as the prompt says it. */
  readonly taskType: string;
  /** How the answer is to be written. */
  readonly outputFormat: string;
  /** Whether the prompt teaches the protocol or only asks. Default `full`. */
  readonly prompt?: 'full' | 'short';
}

const tags = ['think', 'answer', 'tool_call'];
const escapeTags = tagEscaper(tags);

/** Tools answer in a fence, as in the paper's Table 4: a fence in what they print is made harmless. */
const escaped = (text: string): string => escapeTags(text).replaceAll('```', "'''");

/**
 * VISTA-R1's protocol over any list of tools, under a name of its own. Each tool gets the extra
 * argument `task`, as in the paper; three tool turns are allowed.
 */
export function vistaWith(name: string, options: VistaOptions): Protocol {
  const tools = options.tools.map(takingTask);
  return {
    name,
    paper: 'VISTA-R1, arXiv:2511.19773, §4.3, §5.2, Appendix E, Fig. 9',
    stop: [callClose],
    tags,
    // Three turns (Appendix G.2): its framework, verl-tool, counts calls and lets an answer follow.
    budgets: { toolTurns: 3, images: Number.POSITIVE_INFINITY },
    runsBeyondBudget: false,
    tools,
    prompt: (task) =>
      options.prompt === 'short' ? shortPrompt(task) : fullPrompt(task, tools, options),
    parse,
    write,
    hand: handWith(tools),
    observe,
    // The framework continues: it answers a call that cannot be parsed, but not a turn without a call.
    observeInvalid: (reason) =>
      reason === 'malformedCall'
        ? [
            textPart(
              toolText('Tool Call Error: InvalidCall: The call is no JSON object with a tool.'),
            ),
          ]
        : [],
    endsOn: () => undefined,
  };
}

/** Every call may say what it is for; tools of their own kind need not know. */
function takingTask(tool: Tool): Tool {
  const { properties } = tool.parameters;
  if (isJsonObject(properties) && 'task' in properties) return tool;
  const task = { type: 'string', description: 'What the call is for.' };
  return {
    ...tool,
    parameters: { ...tool.parameters, properties: { task, ...(properties as object) } },
    async call({ task: said, ...given }, context) {
      if (said === undefined || typeof said === 'string') return await tool.call(given, context);
      return refused('BadArgument', 'The argument task does not fit: it must be text.');
    },
  };
}

function promptImages(task: Task): readonly MessagePart[] {
  return task.images.map((image, i) => ({ kind: 'image', ...image, name: `image_${i}` }));
}

function shortPrompt(task: Task): { readonly user: readonly MessagePart[] } {
  return { user: [...promptImages(task), textPart(`\n${task.question}`)] };
}

function fullPrompt(
  task: Task,
  tools: readonly Tool[],
  { taskType, outputFormat }: VistaOptions,
): { system: string; user: readonly MessagePart[] } {
  const list = tools
    .map(({ name, description, parameters }) => {
      return `- ${name}: ${description} Arguments: ${JSON.stringify(parameters.properties)}`;
    })
    .join('\n');
  // Our wording, rule by rule as in Fig. 9.
  const system = `You are an AI agent that reasons with tools. Keep to these rules in every turn:
1. Always call a fitting tool first.
2. Never answer without what a tool gave.
3. Choose the tool by the task:
${list}
4. Think before you act: put your reasoning inside <think> and </think>.
5. Call a tool right after it, as JSON in tags: <tool_call>{"tool": "<tool_name>", "task": "<task_name>", "arguments": {}}</tool_call>
6. Think after you acted: read what the tool gave, inside <think> and </think>, and see whether more is needed.
7. Put the final answer inside <answer> and </answer>.`;
  const text = `
Please answer the following ${taskType} question.
Question: ${task.question}

Solve it completely, step by step:
1. Analyse the problem.
2. Check whether the tool worked and its answer is right.
3. Where something is wrong, say what, and reason correctly.
4. Give the final answer.

Think aloud in plain words, but briefly; look back at what the tool gave before you trust it.
Put your reasoning between <think> and </think>, then your answer between <answer> and </answer>.
Output format: ${outputFormat}`;
  return { system, user: [...promptImages(task), textPart(text)] };
}

/** The first call comes first, as generation halts there; then the last answer. */
function parse(text: string): Action {
  const [json] = callTexts(text);
  if (json !== undefined) return readCall(json) ?? { kind: 'invalid', reason: 'malformedCall' };
  const answer = lastBetween(text, '<answer>', '</answer>');
  if (answer !== undefined) return { kind: 'answer', answer: answer.trim() };
  return { kind: 'invalid', reason: 'noCallNorAnswer' };
}

/** `arguments` may be left out (Fig. 9); text in their place is one argument of that name. */
function readCall(json: string): Action | undefined {
  const { tool, task, arguments: given = {} } = readJsonObject(json.trim()) ?? {};
  if (typeof tool !== 'string') return undefined;
  const named = isJsonObject(given) ? given : { arguments: given };
  const all = task === undefined ? named : { ...named, task };
  return { kind: 'toolCall', name: tool, arguments: all };
}

function write(action: Action, thought = ''): string {
  const before = `<think>${thought}</think>\n`;
  if (action.kind === 'toolCall') {
    const { task, ...given } = action.arguments;
    const call = { tool: action.name, ...(task !== undefined && { task }), arguments: given };
    return `${before}${callOpen}${JSON.stringify(call)}${callClose}`;
  }
  if (action.kind === 'answer') return `${before}<answer>${action.answer}</answer>`;
  throw new DataError(`VISTA has no words for ${action.kind}. Give it a call or an answer.`);
}

/** Calls the tools of the run, on the image that the last turn made. */
function handWith(tools: readonly Tool[]): Hand {
  const has = (tool: Tool): boolean => tools.some(({ name }) => name === tool.name);
  const call = (tool: Tool, task: string, given: object, place: StepPlace): Action => {
    const image_index = currentImage(place);
    return { kind: 'toolCall', name: tool.name, arguments: { ...given, image_index, task } };
  };
  return {
    ...(has(imageZoomInTool) && {
      look: ({ box }, place) => call(imageZoomInTool, 'look', { bbox_2d: [...box] }, place),
    }),
    ...(has(imageRotateTool) &&
      has(imageFlipTool) && {
        turn({ tool }, place) {
          const [what, how = ''] = tool.split('_');
          if (what === 'flip') return call(imageFlipTool, 'turn', { direction: how }, place);
          return call(imageRotateTool, 'turn', { angle: Number(how) }, place);
        },
      }),
    signs: () => ({
      act: [callOpen],
      answer: ['<answer>'],
      look: [imageZoomInTool.name],
      turn: [imageRotateTool.name, imageFlipTool.name],
    }),
  };
}

/** A tool's text in a fence, as in Table 4. */
function toolText(text: string): string {
  return `\`\`\`output\n${text}\n\`\`\``;
}

function observe(outcome: Outcome, { imageIndex }: ObservationPlace): readonly MessagePart[] {
  const parts: MessagePart[] = [];
  const printed = escaped(outcome.stdout.trim());
  if (outcome.kind !== 'ok') {
    const { type = outcome.kind, message = '' } = outcome.error ?? {};
    const said = printed === '' ? '' : `${printed}\n`;
    parts.push(textPart(toolText(`${said}Tool Call Error: ${escaped(`${type}: ${message}`)}`)));
  } else {
    const shown = outcome.images.map((_, i) => `image_${imageIndex + i}`).join(', ');
    const said = [printed, shown === '' ? '' : `Picture: ${shown}`].filter((text) => text !== '');
    parts.push(textPart(toolText(said.join('\n'))));
  }
  if (outcome.images.length > 0) parts.push(textPart('\n'));
  outcome.images.forEach(({ png, width, height, origin }, i) => {
    const name = `image_${imageIndex + i}`;
    parts.push({ kind: 'image', name, png, width, height, ...(origin && { origin }) });
  });
  return joinTexts(parts);
}

/** The published protocol, with the tools that need no other model. */
export const vista = defineProtocol({
  name: 'vista',
  description: 'VISTA-R1: typed tools, called by JSON, with a thought before every turn.',
  takesTools: true,
  settings: {
    prompt: choice(['full', 'short'], {
      default: 'full',
      about: 'Whether the prompt teaches the protocol, or only asks, for very small policies.',
    }),
    taskType: text({
      default: 'visual reasoning',
      unit: 'text',
      about: 'The kind of question, as the prompt says it.',
    }),
    outputFormat: text({
      default: 'the answer alone, as short as possible',
      unit: 'text',
      about: 'How the answer is to be written, as the prompt says it.',
    }),
  },
  create: (settings, tools = imageTools) => vistaWith('vista', { ...settings, tools }),
});
