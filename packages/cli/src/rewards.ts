/** `saccade rewards`: the reward presets, term by term, with where every number comes from. */
import { type Constants, presetNamed, presets, type RewardPreset, rewards } from '@saccade/rewards';
import { printJson } from './json.ts';
import { say } from './say.ts';
import { formatTable, printTable } from './table.ts';

/** Prints one preset by its name, or all presets and rewards in short. */
export function showRewards(shown: string | undefined, flags: { readonly json?: boolean }): void {
  if (shown !== undefined) {
    show(shown, flags);
    return;
  }
  if (flags.json) {
    printJson({
      presets: presets.entries().map(([name, { description, paper }]) => {
        return { name, description, paper };
      }),
      rewards: rewards.entries().map(([name, { scope, paper }]) => ({ name, scope, paper })),
    });
    return;
  }
  for (const [name, { description, paper }] of presets.entries()) {
    say(`${name}\n  ${description}\n  ${paper}`);
  }
  say('\nRewards:');
  printTable([
    ['name', 'scope', 'from'],
    ...rewards.entries().map(([name, { scope, paper }]) => [name, scope, paper]),
  ]);
  say('\nShow a preset with: saccade rewards show <name>, or <name>/code.');
}

function show(name: string, { json }: { readonly json?: boolean }): void {
  if (json) printJson(shownPresets(name).map(jsonOf));
  else for (const line of describePreset(name)) say(line);
}

/** The lines that `saccade rewards show` prints: the preset, and its public code's if any. */
function describePreset(name: string): readonly string[] {
  const preset = presetNamed(name);
  const shown = shownPresets(name);
  const lines = [`${preset.name}: ${preset.description}`, preset.paper];
  for (const each of shown) {
    lines.push('', each.name);
    const rows = each.terms.flatMap(({ reward, weight }): readonly string[][] => {
      const constants = rowsOf(reward.constants);
      const [first = '', ...rest] = constants;
      const own = [reward.name, reward.scope, `${weight.value} (${weight.from})`, first];
      return [[...own, reward.paper], ...rest.map((constant) => ['', '', '', constant, ''])];
    });
    lines.push(...formatTable([['component', 'scope', 'weight', 'constants', 'from'], ...rows]));
  }
  if (preset.notes.length > 0) lines.push('', ...preset.notes.map((note) => `- ${note}`));
  lines.push('', 'Origins: paper, code (public), note (quoted by others), reconstructed (by us).');
  return lines;
}

function rowsOf(constants: Constants): readonly string[] {
  return Object.entries(constants).map(([name, { value, from }]) => {
    const shown = typeof value === 'number' ? Number(value.toPrecision(6)) : value;
    return `${name} = ${shown} (${from})`;
  });
}

/** The preset of a name, and that of its public code where it has one. */
function shownPresets(name: string): readonly RewardPreset[] {
  const preset = presetNamed(name);
  const code = `${preset.name}/code`;
  return name.includes('/') || !presets.has(code) ? [preset] : [preset, presets.get(code)];
}

function jsonOf({ name, description, paper, terms, notes }: RewardPreset): object {
  return {
    name,
    description,
    paper,
    notes,
    terms: terms.map(({ reward, weight }) => {
      const { name: term, scope, constants, paper: source } = reward;
      return { name: term, scope, weight, constants, paper: source };
    }),
  };
}
