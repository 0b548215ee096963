/** The attacks and how they ended, as a Markdown table. */
import type { Attack, Verdict } from './attack.ts';
import type { TierResult } from './run.ts';

/** One row per attack, one column per tier and user; `!` marks what is not as expected. */
export function drawAttacks(columns: readonly TierResult[]): string {
  const titles = columns.map(({ tier, isRoot }) => `${tier}, ${isRoot ? 'root' : 'user'}`);
  const rows = new Map<Attack['name'], Map<number, string>>();
  const groups = new Map<string, string>();
  columns.forEach(({ results }, column) => {
    for (const { attack, verdict, expected } of results) {
      const row = rows.get(attack.name) ?? new Map<number, string>();
      rows.set(attack.name, row.set(column, cell(verdict, expected)));
      groups.set(attack.name, attack.group);
    }
  });
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = [...rows].map(([name, cells]) =>
    line([groups.get(name) ?? '', name, ...columns.map((_, column) => cells.get(column) ?? '')]),
  );
  const head = ['group', 'attack', ...titles];
  return [line(head), line(head.map(() => '---')), ...body].join('\n');
}

function cell(verdict: Verdict, expected: Verdict): string {
  if (verdict !== expected) return `${verdict} ! (${expected})`;
  return verdict === 'open' ? '**open**' : verdict === 'untried' ? '–' : verdict;
}
