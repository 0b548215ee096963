/**
 * Plans charts of real tables: which table, kind, library, style and options.
 *
 *   node plan-cases.mjs FOLDER SPLIT COUNT SEED > plan.json
 *
 * FOLDER is `data` of vega-datasets 3. The reader was tuned on the styles of `tune` and looked at on
 * those of `validate`; `test` is what is measured. The splits share neither styles nor, where a table
 * has enough rows, countries, states or sectors.
 */
import { readTables } from './tables.mjs';

const styles = {
  tune: {
    matplotlib: ['default', 'ggplot', 'seaborn-v0_8-whitegrid', 'bmh', 'seaborn-v0_8'],
    vega: ['default', 'quartz', 'excel', 'fivethirtyeight'],
  },
  validate: {
    matplotlib: ['seaborn-v0_8-darkgrid', 'petroff10', 'dark_background'],
    vega: ['vox', 'googlecharts', 'dark'],
  },
  test: {
    matplotlib: [
      'Solarize_Light2',
      'tableau-colorblind10',
      'classic',
      'fivethirtyeight',
      'seaborn-v0_8-talk',
      'grayscale',
    ],
    vega: ['ggplot2', 'latimes', 'urbaninstitute', 'powerbi', 'carbonwhite', 'carbong90'],
  },
};

const kinds = [
  ...['bar', 'bar', 'bar', 'bar', 'horizontal', 'horizontal', 'grouped', 'grouped'],
  ...['stacked', 'stacked', 'line', 'line', 'line', 'lines', 'lines', 'lines'],
  ...['pie', 'pie', 'scatter', 'area'],
];

const [folder, split, count, seed] = process.argv.slice(2);
const { tables, clouds } = readTables(folder);
const random = mulberry32(Number(seed));
const pick = (values) => values[Math.floor(random() * values.length)];
const between = (low, high) => low + Math.floor(random() * (high - low + 1));
const cases = [];
while (cases.length < Number(count)) {
  const planned = plan(cases.length);
  if (planned !== undefined) cases.push(planned);
}
process.stdout.write(`${JSON.stringify(cases, null, 1)}\n`);

/** A small generator of random numbers in [0, 1). */
function mulberry32(state) {
  let a = state >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Some of the values, in their order. */
function sample(values, size) {
  return values
    .map((value, index) => ({ value, index, key: random() }))
    .sort((a, b) => a.key - b.key)
    .slice(0, size)
    .sort((a, b) => a.index - b.index)
    .map(({ value }) => value);
}

/** The split that a row belongs to, by its name. */
function partOf(name) {
  let hash = 2166136261;
  for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619);
  return Object.keys(styles)[(hash >>> 0) % 3];
}

function plan(number) {
  const library = number % 2 === 0 ? 'matplotlib' : 'vega';
  const choices = styles[split][library];
  const kind = pick(kinds);
  const base = {
    id: `${split}-${number}`,
    ...{ kind, library, style: choices[Math.floor(number / 2) % choices.length] },
    ...{ width: pick([480, 560, 640, 720, 800]), height: pick([360, 400, 450, 500]) },
    ...{ hasLegend: true, rotation: 0, hasMarkers: false, hasValues: false, isLog: false },
    ...{ isNumeric: false, hasGrid: false, isDonut: false, isHorizontal: kind === 'horizontal' },
  };
  if (kind === 'scatter') return scatter(base);
  if (kind === 'pie') return pie(base);
  if (kind === 'grouped' || kind === 'stacked') return withRotation(bars(base));
  if (kind === 'bar' || kind === 'horizontal') return withRotation(simpleBars(base));
  return withRotation(lines(base));
}

/** Rows that this split may use. */
function rowsOf(table) {
  const all = table.rows.map((_, index) => index);
  return all.length < 18 ? all : all.filter((index) => partOf(table.rows[index]) === split);
}

function titleOf({ name, title, unit }) {
  return { table: name, title, yLabel: `${unit[0].toUpperCase()}${unit.slice(1)}` };
}

function scatter(base) {
  const cloud = pick(clouds);
  const [across, upward] = sample(cloud.fields, 2);
  const groups =
    cloud.groupBy === null ? [null] : [...new Set(cloud.rows.map((r) => r[cloud.groupBy]))];
  const series = groups.map((group) => {
    const rows = cloud.rows.filter((row) => group === null || row[cloud.groupBy] === group);
    const chosen = sample(rows, group === null ? 30 : 14);
    return { name: group ?? 'all', points: chosen.map((row) => [row[across], row[upward]]) };
  });
  const titles = { table: cloud.name, title: cloud.title, xLabel: across, yLabel: upward };
  return { ...base, ...titles, series, hasLegend: groups.length > 1 };
}

function pie(base) {
  const table = pick(
    tables.filter((one) => one.isWhole && (one.rows.length >= 3 || one.name === 'weather-days')),
  );
  let pairs;
  let { title } = table;
  if (table.name === 'weather-days') {
    const row = pick(rowsOf(table));
    pairs = table.columns.map((name, index) => [name, table.values[row][index]]);
    title = `${title} in ${table.rows[row]}`;
  } else {
    const column = between(0, table.columns.length - 1);
    const rows = sample(rowsOf(table), Math.min(rowsOf(table).length, between(3, 7)));
    pairs = rows.map((row) => [table.rows[row], table.values[row][column]]);
  }
  const total = pairs.reduce((sum, [, value]) => sum + value, 0);
  pairs = pairs.filter(([, value]) => value / total > 0.02);
  if (pairs.length < 3) return undefined;
  return {
    ...{ ...base, ...titleOf(table), title, xLabel: '' },
    labels: pairs.map(([name]) => name),
    series: [{ name: 'share', values: pairs.map(([, value]) => value) }],
    hasValues: random() < 0.5,
    isDonut: random() < 0.3,
    hasLegend: base.library === 'vega' || random() < 0.4,
  };
}

function bars(base) {
  const noTotals = ['global-temp', 'weather-temp_max', 'gapminder-life_expect', 'penguins-mean'];
  const table = pick(
    tables.filter(
      (one) =>
        one.columns.length >= 2 &&
        one.rows.length >= 2 &&
        !one.isLog &&
        !(base.kind === 'stacked' && noTotals.includes(one.name)),
    ),
  );
  const rows = sample(rowsOf(table), Math.min(rowsOf(table).length, between(2, 4)));
  const all = table.columns.map((_, index) => index);
  const columns = sample(all, Math.min(all.length, between(2, 6)));
  const isTurned = random() < 0.5 && table.rows.length > 4;
  return {
    ...{ ...base, ...titleOf(table) },
    labels: isTurned ? rows.map((row) => table.rows[row]) : columns.map((c) => table.columns[c]),
    series: isTurned
      ? columns.slice(0, 4).map((c) => ({
          name: table.columns[c],
          values: rows.map((row) => table.values[row][c]),
        }))
      : rows.map((row) => ({
          name: table.rows[row],
          values: columns.map((c) => table.values[row][c]),
        })),
    xLabel: isTurned ? table.rowName : table.columnName,
    isHorizontal: random() < 0.25,
    hasLegend: random() >= 0.1,
  };
}

function simpleBars(base) {
  const table = pick(tables.filter((one) => one.rows.length >= 3 || one.columns.length >= 5));
  const isByRow = table.rows.length >= 3 && random() < 0.8;
  const rows = rowsOf(table);
  let made;
  if (isByRow) {
    const column = between(0, table.columns.length - 1);
    const chosen = sample(rows, Math.min(rows.length, between(4, 9)));
    made = {
      labels: chosen.map((row) => table.rows[row]),
      series: [{ name: table.columns[column], values: chosen.map((r) => table.values[r][column]) }],
      xLabel: table.rowName,
      title: table.columns.length > 1 ? `${table.title}, ${table.columns[column]}` : table.title,
    };
  } else {
    if (table.columns.length < 4) return undefined;
    const row = pick(rows);
    const all = table.columns.map((_, index) => index);
    const chosen = sample(all, Math.min(all.length, between(4, 9)));
    made = {
      labels: chosen.map((column) => table.columns[column]),
      series: [{ name: table.rows[row], values: chosen.map((c) => table.values[row][c]) }],
      xLabel: table.columnName,
      title: `${table.title}: ${table.rows[row]}`,
    };
  }
  const isPositive = Math.min(...made.series[0].values) > 0;
  return {
    ...{ ...base, ...titleOf(table), ...made },
    hasValues: random() < 0.2,
    hasLegend: false,
    isLog: isPositive && (table.isLog === true || random() < 0.06),
  };
}

function lines(base) {
  const isMany = base.kind === 'lines';
  const table = pick(
    tables.filter(
      (one) => one.isTime && one.columns.length >= 6 && (!isMany || rowsOf(one).length >= 2),
    ),
  );
  const rows = sample(rowsOf(table), isMany ? Math.min(rowsOf(table).length, between(2, 5)) : 1);
  const isLong = random() < 0.35;
  const { length } = table.columns;
  const size = isLong ? length : Math.min(length, between(6, 11));
  const first = between(0, length - size);
  const labels = table.columns.slice(first, first + size);
  const series = rows.map((row) => ({
    name: table.rows[row],
    values: table.values[row].slice(first, first + size),
  }));
  const isPositive = Math.min(...series.flatMap(({ values }) => values)) > 0;
  return {
    ...{ ...base, ...titleOf(table), labels, series, xLabel: table.columnName },
    title: isMany ? table.title : `${table.title}: ${table.rows[rows[0]]}`,
    hasMarkers: random() < 0.5,
    isNumeric: /^\d{4}$/.test(labels[0]) && (labels.length > 12 || random() < 0.5),
    hasLegend: isMany && random() >= 0.1,
    isLog: base.kind === 'line' && isPositive && random() < 0.06,
  };
}

/** Turns labels that would not fit beside each other. */
function withRotation(planned) {
  if (planned === undefined || planned.isHorizontal || planned.isNumeric) return planned;
  const longest = Math.max(...planned.labels.map((label) => label.length));
  const isTight = longest * 7.2 * planned.labels.length > planned.width * 0.8;
  if (!isTight && random() < 0.9) return { ...planned, hasGrid: random() < 0.15 };
  return { ...planned, rotation: pick([30, 45, 90]) };
}
