/** Answers charts-qa by calculating with the table that ChartMoE reads and the values that OCR reads. */

export const uses =
  'the table of `chartmoe`, values printed in the chart by `easyocr`, and code that calculates with them';
export const tools = ['chartmoe'];

export const questionType = ({ metadata }) => `${metadata.program.operation} ${metadata.table}`;

/** A printed value replaces one that was measured if they differ by less than this share. */
const SAME = 0.04;
/** Least share of the pairs of letters of a label that a question has if it names the label. */
const NAMED = 0.7;

/** The answer that the code of the question's words gives. */
export async function answer({ question, images }, eyes) {
  const read = await eyes.call('chartmoe', { task: 'to_table', output_format: 'brief' }, images);
  if (read === undefined) return undefined;
  const table = tableOf(read);
  if (table === undefined) return undefined;
  const printed = (await eyes.read(images[0])).flatMap(({ text }) => decimalsIn(text));
  const chart = new Chart(withPrinted(table, printed));
  for (const [pattern, found] of answers) {
    const match = pattern.exec(question);
    if (match !== null) return found(chart, ...match.slice(1));
  }
  return undefined;
}

const decimalsIn = (text) => (text.match(/\d+\.\d(?!\d)/g) ?? []).map(Number);

/** Rows of a table in Markdown: names, names of columns, numbers or NaN. */
function tableOf(text) {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const cells = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const [head, , ...rows] = cells;
  if (head === undefined || rows.length === 0) return undefined;
  return {
    columns: head.slice(1),
    rows: rows.map(([name]) => name),
    values: rows.map(([, ...values]) => values.map((value) => Number.parseFloat(value))),
  };
}

/** The table with values as they are printed; slices of a pie are measured in percent. */
function withPrinted(table, printed) {
  const isPie = table.columns.length === 1 && /share|%/i.test(table.columns[0]);
  const whole = printed.reduce((sum, value) => sum + value, 0);
  const scale = isPie && printed.length === table.rows.length ? whole / 100 : 1;
  const values = table.values.map((row) =>
    row.map((value) => {
      const measured = value * scale;
      const far = (other) => Math.abs(other - measured);
      const near = [...printed].sort((a, b) => far(a) - far(b))[0];
      return near !== undefined && far(near) <= SAME * measured ? near : measured;
    }),
  );
  return { ...table, values };
}

const plain = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
const isYear = (name) => /^\d{4}$/.test(name);

/** The index of the name that a phrase has; of several the longest. */
function namedIn(phrase, names) {
  const text = plain(phrase);
  const shares = names.map((name) => {
    const letters = plain(name);
    if (letters !== '' && text.includes(letters)) return 1 + letters.length;
    const pairs = Array.from({ length: Math.max(0, letters.length - 1) }, (_, i) =>
      letters.slice(i, i + 2),
    );
    return isYear(name) ? 0 : pairs.filter((pair) => text.includes(pair)).length / pairs.length;
  });
  const best = shares.indexOf(Math.max(...shares.filter((share) => !Number.isNaN(share))));
  return (shares[best] ?? 0) >= NAMED ? best : -1;
}

/** A table whose rows or columns may be years. */
class Chart {
  constructor({ rows, columns, values }) {
    Object.assign(this, { rows, columns, values });
    this.hasYearRows = rows.filter(isYear).length > rows.length / 2;
  }

  /** The value that a phrase such as "population of Italy in 1995" names; NaN where it names none. */
  at(phrase) {
    const row = this.rows.length === 1 ? 0 : namedIn(phrase, this.rows);
    const column = this.columns.length === 1 ? 0 : namedIn(phrase, this.columns);
    return this.values[row]?.[column] ?? Number.NaN;
  }

  /** Names and values of all entities in a year. */
  entities(year = '') {
    if (this.hasYearRows) {
      const row = this.values[this.rows.indexOf(year)] ?? [];
      return this.columns.map((name, index) => ({ name, value: row[index] ?? Number.NaN }));
    }
    const column = this.columns.length === 1 ? 0 : this.columns.indexOf(year);
    return this.rows.map((name, index) => ({
      name,
      value: this.values[index]?.[column] ?? Number.NaN,
    }));
  }

  /** Years and values of the entity that a phrase names. */
  years(phrase) {
    if (this.hasYearRows) {
      const column = this.columns.length === 1 ? 0 : namedIn(phrase, this.columns);
      return this.rows.map((name, index) => ({
        name,
        value: this.values[index]?.[column] ?? Number.NaN,
      }));
    }
    const row = this.rows.length === 1 ? 0 : namedIn(phrase, this.rows);
    return this.columns.map((name, index) => ({
      name,
      value: this.values[row]?.[index] ?? Number.NaN,
    }));
  }
}

const number = (value, digits) =>
  Number.isNaN(value) ? undefined : String(Number(value.toFixed(digits)));
const rounded = (value) => (Number.isNaN(value) ? undefined : (value + 1e-9).toFixed(2));
const total = (some) => some.reduce((sum, { value }) => sum + value, 0);
const mean = (some) => rounded(total(some) / some.length);
const known = (some) => some.filter(({ value }) => !Number.isNaN(value));

function extreme(some, degree) {
  const sign = degree === 'highest' ? -1 : 1;
  return known(some).sort((a, b) => sign * (a.value - b.value))[0]?.name;
}

const countAbove = (some, threshold) =>
  some.length === 0
    ? undefined
    : String(some.filter(({ value }) => value > Number(threshold)).length);

/** The two phrases of "A in 1990 higher than B" or "A higher in 1990 than in 1980". */
function pairOf(text) {
  const years = /^(.+) higher in (\d{4}) than in (\d{4})$/.exec(text);
  if (years !== null) return [`${years[1]} ${years[2]}`, `${years[1]} ${years[3]}`];
  return text.split(' higher than ');
}

/** Words of a question, and what they ask of a chart. */
const answers = [
  [
    /^By how much is the (.+)\? Answer/,
    (chart, text) => {
      const [a, b] = pairOf(text).map((phrase) => chart.at(phrase));
      return number(a - b, 1);
    },
  ],
  [
    /^Is the (.+)\? Answer yes or no/,
    (chart, text) => {
      const [a, b] = pairOf(text).map((phrase) => chart.at(phrase));
      return Number.isNaN(a - b) ? undefined : a > b ? 'yes' : 'no';
    },
  ],
  [
    /^Does the (.+) rise or fall from (\d{4}) to (\d{4})\?/,
    (chart, subject, from, to) => {
      const rise = chart.at(`${subject} ${to}`) - chart.at(`${subject} ${from}`);
      return Number.isNaN(rise) ? undefined : rise > 0 ? 'rise' : 'fall';
    },
  ],
  [
    /^What is the (.+) divided by the (.+)\? Give/,
    (chart, a, b) => rounded(chart.at(a) / chart.at(b)),
  ],
  [
    /^What is the total .+? of (.+?)(?: in (\d{4}))?\? Answer/,
    (chart, listed, year) => {
      const some = chart.entities(year).filter(({ name }) => plain(listed).includes(plain(name)));
      return some.length < 2 ? undefined : number(total(some), 1);
    },
  ],
  [/^What is the mean (.+) over the years shown\?/, (chart, subject) => mean(chart.years(subject))],
  [
    /^What is the mean .+ shown(?: in (\d{4}))?\? Answer/,
    (chart, year) => mean(chart.entities(year)),
  ],
  [
    /^Of the years shown, in which is the (.+) (highest|lowest)\?/,
    (chart, subject, degree) => extreme(chart.years(subject), degree),
  ],
  [
    /^Which .+ has the (highest|lowest) .+?(?: in (\d{4}))?\?/,
    (chart, degree, year) => extreme(chart.entities(year), degree),
  ],
  [
    /^In how many of the years shown is the (.+) above ([\d.]+)/,
    (chart, subject, threshold) => countAbove(chart.years(subject), threshold),
  ],
  [
    /^How many of the .+ shown have an? .+ above ([\d.]+) .+?(?: in (\d{4}))?\?/,
    (chart, threshold, year) => countAbove(chart.entities(year), threshold),
  ],
  [/^What is the (.+)\? Answer in/, (chart, phrase) => number(chart.at(phrase), 1)],
];
