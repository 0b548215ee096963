/** `saccade rewards`: the reward presets, term by term, with where every number comes from. */
import { type Constants, presetNamed, presets, rewards } from '@saccade/rewards';
import type { Command } from 'commander';
import { formatTable, printTable } from './table.ts';

export function addRewards(program: Command): void {
  const command = program
    .command('rewards')
    .description('List the reward presets, or show one’s terms.');
  command
    .command('list', { isDefault: true })
    .description('List the reward presets and all rewards.')
    .action(() => {
      for (const [name, { description, paper }] of presets.entries()) {
        console.log(`${name}\n  ${description}\n  ${paper}`);
      }
      console.log('\nRewards:');
      printTable([
        ['name', 'scope', 'from'],
        ...rewards.entries().map(([name, { scope, paper }]) => [name, scope, paper]),
      ]);
      console.log('\nShow a preset with: saccade rewards show <name>, or <name>/code.');
    });
  command
    .command('show')
    .description('Show a preset: terms, scopes, weights, constants, and where each comes from.')
    .argument('<name>', 'a preset, e.g. codevision; codevision/code for its public code alone')
    .action((name: string) => {
      for (const line of describePreset(name)) console.log(line);
    });
}

/** The lines that `saccade rewards show` prints: the preset, and its public code's if any. */
function describePreset(name: string): readonly string[] {
  const preset = presetNamed(name);
  const code = `${preset.name}/code`;
  const isOne = name.includes('/') || !presets.has(code);
  const shown = isOne ? [preset] : [preset, presets.get(code)];
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
