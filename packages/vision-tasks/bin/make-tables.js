/**
 * Writes data/tables.json from an unpacked vega-datasets 3.2.1.
 *
 *   npm pack vega-datasets@3.2.1 && tar xzf vega-datasets-3.2.1.tgz
 *   node bin/make-tables.js package/data
 *
 * Only files of the United States government and, from gapminder, of CC BY 4.0 are read; see
 * SOURCES.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Give the folder of the data of vega-datasets.');
const read = (name) => readFileSync(join(folder, name), 'utf8');
const rowsOf = (name) => {
  const [head, ...lines] = read(name).trim().split(/\r?\n/);
  const keys = head.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(keys.map((key, i) => [key, cells[i]]));
  });
};
const round = (value, digits = 1) => Number(Number(value).toFixed(digits));

/** values[row][column] from a list of facts; rows without every column are left out. */
function grid(facts, columns) {
  const byName = new Map();
  for (const { name, column, value } of facts) {
    if (!byName.has(name)) byName.set(name, new Map());
    byName.get(name).set(column, value);
  }
  const whole = [...byName].filter(([, cells]) => columns.every((key) => cells.has(key)));
  whole.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    columns,
    rows: whole.map(([name, cells]) => ({ name, values: columns.map((key) => cells.get(key)) })),
  };
}

const years = (first, last, step) =>
  Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => `${first + i * step}`);

const gapminder = JSON.parse(read('gapminder.json'));
const fromGapminder = (field, scale) =>
  grid(
    gapminder.map((row) => ({
      name: row.country,
      column: `${row.year}`,
      value: round(row[field] * scale),
    })),
    years(1955, 2005, 5),
  );

const industries = JSON.parse(read('unemployment-across-industries.json'));
const monthsOf = new Map();
for (const row of industries) {
  const key = `${row.series}|${row.year}`;
  monthsOf.set(key, [...(monthsOf.get(key) ?? []), row]);
}
/** Names that read well after “unemployment rate in”. */
const industryOf = { other: 'other industries', 'self-employed': 'self-employment' };
const unemployment = grid(
  [...monthsOf]
    .filter(([, months]) => months.length === 12)
    .map(([key, months]) => ({
      name: industryOf[key.split('|')[0].toLowerCase()] ?? key.split('|')[0].toLowerCase(),
      column: key.split('|')[1],
      value: round(months.reduce((sum, { rate }) => sum + rate, 0) / 12),
    })),
  years(2000, 2009, 1),
);

const sectors = {
  mining_and_logging: 'mining and logging',
  construction: 'construction',
  manufacturing: 'manufacturing',
  wholesale_trade: 'wholesale trade',
  retail_trade: 'retail trade',
  transportation_and_warehousing: 'transport and warehousing',
  information: 'information',
  financial_activities: 'finance',
  professional_and_business_services: 'business services',
  education_and_health_services: 'education and health',
  leisure_and_hospitality: 'leisure and hospitality',
  other_services: 'other services',
  government: 'government',
};
const januaries = rowsOf('us-employment.csv').filter(({ month }) => month.endsWith('-01-01'));
const employment = grid(
  januaries.flatMap((row) =>
    Object.entries(sectors).map(([key, name]) => ({
      name,
      column: row.month.slice(0, 4),
      value: round(row[key] / 1000),
    })),
  ),
  years(2006, 2015, 1),
);

const states = rowsOf('population_engineers_hurricanes.csv').filter(
  ({ state }) => state !== 'District of Columbia' && state !== 'Puerto Rico',
);
const ofStates = (value) =>
  grid(
    states
      .map((row) => ({ name: row.state, column: '', value: value(row) }))
      .filter((fact) => Number.isFinite(fact.value)),
    [''],
  );
const obesity = new Map(JSON.parse(read('obesity.json')).map(({ id, rate }) => [id, rate]));

const tables = [
  {
    id: 'life-expectancy',
    source: 'gapminder.json',
    measure: 'life expectancy',
    of: 'life expectancy in {}',
    unit: 'years',
    row: ['country', 'countries'],
    isAdditive: false,
    ...fromGapminder('life_expect', 1),
  },
  {
    id: 'fertility',
    source: 'gapminder.json',
    measure: 'fertility',
    of: 'fertility in {}',
    unit: 'children per woman',
    row: ['country', 'countries'],
    isAdditive: false,
    ...fromGapminder('fertility', 1),
  },
  {
    id: 'population',
    source: 'gapminder.json',
    measure: 'population',
    of: 'population of {}',
    unit: 'millions',
    row: ['country', 'countries'],
    isAdditive: true,
    ...fromGapminder('pop', 1e-6),
  },
  {
    id: 'unemployment',
    source: 'unemployment-across-industries.json',
    measure: 'unemployment rate in the United States',
    of: 'unemployment rate in {}',
    unit: 'percent',
    row: ['industry', 'industries'],
    isAdditive: false,
    ...unemployment,
  },
  {
    id: 'employment',
    source: 'us-employment.csv',
    measure: 'employment in the United States',
    of: 'employment in {}',
    unit: 'millions',
    row: ['industry', 'industries'],
    isAdditive: true,
    ...employment,
  },
  {
    id: 'obesity',
    source: 'obesity.json',
    measure: 'obesity rate',
    of: 'obesity rate in {}',
    unit: 'percent',
    row: ['state', 'states'],
    isAdditive: false,
    ...ofStates(({ id }) => round(obesity.get(Number(id)) * 100)),
  },
  {
    id: 'state-population',
    source: 'population_engineers_hurricanes.csv',
    measure: 'population',
    of: 'population of {}',
    unit: 'millions',
    row: ['state', 'states'],
    isAdditive: true,
    ...ofStates(({ population }) => round(population / 1e6)),
  },
];

// One list for all tables: a name is in the same split wherever it occurs.
const names = [...new Set(tables.flatMap(({ rows }) => rows.map(({ name }) => name)))].sort();
const heldOut = names.filter((_, index) => index % 3 === 2);
const lines = tables.map((table) => `    ${JSON.stringify(table)}`);
const text = `{\n  "heldOut": ${JSON.stringify(heldOut)},\n  "tables": [\n${lines.join(',\n')}\n  ]\n}\n`;
writeFileSync(new URL('../data/tables.json', import.meta.url), text);
for (const { id, rows, columns } of tables) {
  const out = rows.filter(({ name }) => heldOut.includes(name)).length;
  console.log(`${id}: ${rows.length} rows (${out} held out) × ${columns.length} columns`);
}
