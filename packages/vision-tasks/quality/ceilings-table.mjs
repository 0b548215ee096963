/** Ceilings of families as a page in Markdown. */

const head = '| family | level | tasks | blind | glance | tool | tool is |';

/** One row for each level, and one for all. Each score is `{ level, blind, glance, tool }`. */
export function rowsOf(family, uses, scores) {
  const levels = [...new Set(scores.map(({ level }) => level))].sort();
  return [...levels, 'all'].map((level) => {
    const some = level === 'all' ? scores : scores.filter((score) => score.level === level);
    const share = (key) => some.filter((score) => score[key]).length / some.length;
    const percents = ['blind', 'glance', 'tool'].map((key) => `${(100 * share(key)).toFixed(0)} %`);
    return `| ${[`\`${family}\``, level, some.length, ...percents, uses].join(' | ')} |`;
  });
}

/** The page with the rows of a family, and those of others as they were. */
export function mergeCeilings(before, family, rows) {
  const kept = before.split('\n').filter((line) => /^\| `/.test(line));
  const others = kept.filter((line) => !line.startsWith(`| \`${family}\``));
  const familyOf = (row) => row.split('`')[1] ?? '';
  const sorted = [...others, ...rows].sort((a, b) => (familyOf(a) < familyOf(b) ? -1 : 1));
  return [
    '# How far a guess, a glance and a tool get',
    '',
    'Written by `node bin/ceilings.js FAMILY --write`. Shares of held-out tasks answered right. Blind is the',
    'most common answer of train to questions of the same type; a glance is the tool on images shrunk to 224',
    'pixels; the tool sees them as they are. Where the tool gives no answer, the blind one counts.',
    '',
    head,
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...sorted,
    '',
  ].join('\n');
}
