/** Mistakes that are put into actions, so that real errors come back (CodeVision's error handling). */
import type { Random } from '@saccade/core';
import { randomAt } from '@saccade/core';
import type { Protocol } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import { type Action, codeOf } from '@saccade/trajectory';

/** Kinds of mistakes, for code and for typed calls. */
export const mistakes = [
  'misspelledName',
  'missingImport',
  'badArgument',
  'syntax',
  'missingArgument',
  'unknownTool',
] as const;

/** One of `mistakes`. */
export type Mistake = (typeof mistakes)[number];

type Tooled = Extract<Action, { kind: 'code' | 'toolCall' }>;

const inCode: Readonly<Partial<Record<Mistake, (code: string) => string | undefined>>> = {
  // The first name that a method is called on.
  misspelledName: (code) => replaced(code, /\b([A-Za-z_]\w*)(?=\.\w+\()/, '$1_copy'),
  missingImport: (code) => `ndimage.shift(0, 0)\n${code}`,
  badArgument: (code) =>
    replaced(code, /(\.crop\(\s*\(?)[^,()]+,\s*/, '$1') ??
    replaced(code, /(\.(?:rotate|transpose)\()[^)]*\)/, "$1'left')"),
  syntax: (code) => replaced(code, /\)([^)]*)$/, '$1'),
};

function replaced(code: string, pattern: RegExp, by: string): string | undefined {
  const made = code.replace(pattern, by);
  return made === code ? undefined : made;
}

/** The action with a mistake, or undefined where there is no place for it. */
export function mistaken(action: Tooled, mistake: Mistake): Tooled | undefined {
  const code = codeOf(action);
  if (code !== undefined) {
    const made = inCode[mistake]?.(code);
    if (made === undefined) return undefined;
    if (action.kind === 'code') return { kind: 'code', code: made };
    return { ...action, arguments: { ...action.arguments, code: made } };
  }
  if (action.kind === 'code') return undefined;
  const names = Object.keys(action.arguments).filter((name) => name !== 'task');
  if (mistake === 'unknownTool') return { ...action, name: `${action.name}_v2` };
  const [first] = names;
  if (mistake !== 'missingArgument' || first === undefined) return undefined;
  const { [first]: _, ...rest } = action.arguments;
  return { ...action, arguments: rest };
}

/** Every way to get an action wrong, in random order. */
export function mistakenInTurn(
  action: Tooled,
  random: Random,
): readonly { readonly mistake: Mistake; readonly action: Tooled }[] {
  return random.shuffle(mistakes).flatMap((mistake) => {
    const made = mistaken(action, mistake);
    return made === undefined ? [] : [{ mistake, action: made }];
  });
}

/**
 * A sampler whose first use of a tool is got wrong, in every conversation: to measure whether the
 * model recovers. What it says after is its own.
 */
export function stumbling(sampler: Sampler, protocol: Protocol, seed: number): Sampler {
  const stumbled = new Set<string>();
  return {
    version: sampler.version,
    processor: sampler.processor,
    async sample(request) {
      const result = await sampler.sample(request);
      if (stumbled.has(request.conversation)) return result;
      const action = protocol.parse(result.text);
      if (action.kind !== 'code' && action.kind !== 'toolCall') return result;
      stumbled.add(request.conversation);
      const random = randomAt(seed, 'stumbling', request.conversation);
      const [wrong] = mistakenInTurn(action, random);
      if (wrong === undefined) return result;
      const text = protocol.write(wrong.action);
      const ends = !protocol.stop.some((stop) => text.endsWith(stop));
      const tokens = sampler.processor.encodeModelText(text, ends);
      if (tokens.length > request.maxTokens) return result;
      const logprobs = new Float32Array(tokens.length);
      const finish = ends ? 'endOfTurn' : 'stop';
      return { tokens, logprobs, text, finish, policyVersion: result.policyVersion };
    },
    release: (key) => {
      stumbled.delete(key);
      sampler.release(key);
    },
  };
}
