/** `saccade algorithms`: what a run can learn by, and every setting of one. */
import { type Algorithm, algorithms } from '@saccade/algorithms';
import { listSettings } from '@saccade/core/settings';
import { printJson } from './json.ts';
import { say } from './say.ts';

/** Prints one algorithm by its name, or all of them in short. */
export function showAlgorithms(
  shown: string | undefined,
  flags: { readonly json?: boolean },
): void {
  if (shown !== undefined) {
    show(shown, flags);
    return;
  }
  const all = algorithms.entries().map(([, { name, description, paper }]) => {
    return { name, description, paper };
  });
  if (flags.json) {
    printJson(all);
    return;
  }
  for (const { name, description, paper } of all) say(`${name}\n  ${description}\n  ${paper}`);
  say('\nShow the settings of one with: saccade algorithms show <name>');
}

function show(name: string, { json }: { readonly json?: boolean }): void {
  const found = algorithms.get(name);
  if (json) printJson(jsonOf(found));
  else for (const line of describe(found)) say(line);
}

function jsonOf({ name, description, paper, schema, reads, profiles, signal }: Algorithm) {
  return { name, description, paper, signal, reads, profiles, settings: listSettings(schema) };
}

/** The lines that `saccade algorithms show` prints: those settings that change this algorithm. */
function describe({ name, description, paper, schema, reads, profiles }: Algorithm) {
  const lines = [`${name}: ${description}`, paper, ''];
  for (const field of listSettings(schema)) {
    if (!reads.includes(field.path)) continue;
    const value = JSON.stringify(field.default) ?? 'unset';
    lines.push(
      `  ${field.path} = ${value}  (${field.unit}; ${field.range})`,
      `      ${field.about}`,
    );
  }
  if (profiles.length > 0) {
    lines.push('', `Profiles, for the constants of others: ${profiles.join(', ')}.`);
  }
  lines.push('', `Train by it: saccade train --set algorithm=${name} --set algorithm.<setting>=…`);
  return lines;
}
