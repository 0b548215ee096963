/** The tables of a study: agreement, win rates, means. */
import type { Table } from '@saccade/report';
import type { RatingResults } from './measure-ratings.ts';

/** Every table that a study fills, for `writeTable` and for the terminal. */
export function ratingTables({
  agreement,
  pairs,
  means,
  itemCount,
  rated,
}: RatingResults): readonly Table[] {
  const tables: Table[] = [];
  const done = Object.entries(rated).map(([rater, count]) => `${rater}: ${count}`);
  if (pairs.length > 0) {
    tables.push({
      name: 'win-rates',
      title: 'Win rates',
      about:
        `Of ${itemCount} items (rated by ${done.join(', ')}). A tie counts half. 95 % intervals resample ` +
        'tasks; p by a sign-flip test over tasks, adjusted for the number of pairs (Holm).',
      columns: [
        { key: 'model', title: 'Model', kind: 'text' },
        { key: 'other', title: 'against', kind: 'text' },
        { key: 'raters', title: 'Raters', kind: 'text' },
        { key: 'win_rate', title: 'Win rate', kind: 'share', hasInterval: true },
        { key: 'wins', title: 'Wins', kind: 'count' },
        { key: 'ties', title: 'Ties', kind: 'count' },
        { key: 'losses', title: 'Losses', kind: 'count' },
        { key: 'p', title: 'p', kind: 'pValue' },
        { key: 'p_adjusted', title: 'p, adjusted', kind: 'pValue' },
      ],
      rows: pairs.flatMap(({ models: [model, other], rate, byRater, pValue, adjustedPValue }) => [
        [model, other, 'all', rate, rate.wins, rate.ties, rate.losses, pValue, adjustedPValue],
        ...Object.entries(byRater).map(([rater, own]) => [
          ...[model, other, rater, own, own.wins, own.ties, own.losses, undefined, undefined],
        ]),
      ]),
    });
  }
  if (means.length > 0) {
    tables.push({
      name: 'mean-ratings',
      title: 'Mean ratings',
      about: `Of ${itemCount} items (rated by ${done.join(', ')}). 95 % intervals resample tasks.`,
      columns: [
        { key: 'model', title: 'Model', kind: 'text' },
        { key: 'mean', title: 'Mean', kind: 'number', hasInterval: true },
        { key: 'ratings', title: 'Ratings', kind: 'count' },
      ],
      rows: means.map(({ model, mean, ratingCount }) => [model, mean, ratingCount]),
    });
  }
  tables.push({
    name: 'agreement',
    title: 'Agreement of raters',
    about: 'Cohen’s kappa over the items that both rated; of scales weighted by squared distance.',
    columns: [
      { key: 'rater', title: 'Rater', kind: 'text' },
      { key: 'other', title: 'and', kind: 'text' },
      { key: 'items', title: 'Items', kind: 'count' },
      { key: 'agreement', title: 'Agreement', kind: 'share' },
      { key: 'kappa', title: 'Kappa', kind: 'number', hasInterval: true },
    ],
    rows: agreement.map(({ raters: [first, second], count, agreement: share, kappa, interval }) => [
      ...[first, second, count, share],
      kappa === undefined || interval === undefined ? undefined : { estimate: kappa, ...interval },
    ]),
  });
  return tables;
}
