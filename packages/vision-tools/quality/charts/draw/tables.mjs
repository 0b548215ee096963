/**
 * Real tables for charts, from the files of vega-datasets whose license is clear; ../SOURCES.md lists
 * them. A table has rows and columns of numbers; `isTime` says that its columns have an order.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const round = (value, digits) => Number(value.toFixed(digits));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const unique = (values) => [...new Set(values)];

/** @param folder  the folder `data` of vega-datasets */
export function readTables(folder) {
  const json = (file) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const csv = (file) => {
    const [head, ...lines] = readFileSync(join(folder, file), 'utf8').trim().split(/\r?\n/);
    const keys = head.split(',');
    return lines.map((line) => Object.fromEntries(line.split(',').map((v, i) => [keys[i], v])));
  };
  return {
    tables: [
      ...gapminder(json),
      ...work(json, csv),
      ...states(json, csv),
      ...climate(csv),
      ...other(json, csv),
    ],
    clouds: clouds(json),
  };
}

function gapminder(json) {
  const all = json('gapminder.json');
  const countries = unique(all.map(({ country }) => country));
  const years = unique(all.map(({ year }) => year));
  const at = (field, country, year) =>
    all.find((row) => row.country === country && row.year === year)[field];
  const fields = [
    ['life_expect', 'Life expectancy', 'years', 1, 1],
    ['fertility', 'Fertility', 'children per woman', 1, 2],
    ['pop', 'Population', 'millions', 1e-6, 2],
  ];
  return fields.map(([field, title, unit, scale, digits]) => ({
    ...{ name: `gapminder-${field}`, title, unit, rowName: 'Country', columnName: 'Year' },
    ...{ rows: countries, columns: years.map(String), isTime: true },
    isWhole: field === 'pop',
    values: countries.map((country) =>
      years.map((year) => round(at(field, country, year) * scale, digits)),
    ),
  }));
}

function work(json, csv) {
  const power = csv('iowa-electricity.csv');
  const sources = unique(power.map(({ source }) => source));
  const powerYears = unique(power.map(({ year }) => year.slice(0, 4)));
  const idle = json('unemployment-across-industries.json');
  const industries = unique(idle.map(({ series }) => series));
  const idleYears = unique(idle.map(({ year }) => year)).filter((year) => year < 2010);
  const jobs = csv('us-employment.csv');
  const totals = ['month', 'nonfarm', 'private', 'nonfarm_change', 'goods_producing'];
  const isSector = (key) => !totals.includes(key) && !key.includes('service_providing');
  const sectors = Object.keys(jobs[0]).filter(isSector);
  const jobYears = unique(jobs.map(({ month }) => month.slice(0, 4)));
  const sentence = (key) => key[0].toUpperCase() + key.slice(1).replaceAll('_', ' ');
  return [
    {
      ...{ name: 'iowa-electricity', title: 'Electricity generated in Iowa', unit: 'GWh' },
      ...{ rowName: 'Source', columnName: 'Year', rows: sources, columns: powerYears },
      ...{ isTime: true, isWhole: true },
      values: sources.map((source) =>
        powerYears.map(
          (year) =>
            +power.find((row) => row.source === source && row.year.startsWith(year)).net_generation,
        ),
      ),
    },
    ...[
      ['rate', 'Unemployment rate', 'percent', 1],
      ['count', 'Unemployed people', 'thousands', 0],
    ].map(([field, title, unit, digits]) => ({
      ...{ name: `unemployment-${field}`, title, unit, rowName: 'Industry', columnName: 'Year' },
      ...{ rows: industries, columns: idleYears.map(String), isTime: true },
      isWhole: field === 'count',
      values: industries.map((series) =>
        idleYears.map((year) => {
          const rows = idle.filter((row) => row.series === series && row.year === year);
          return round(mean(rows.map((row) => row[field])), digits);
        }),
      ),
    })),
    {
      ...{ name: 'us-employment', title: 'Employment in the United States', unit: 'thousands' },
      ...{ rowName: 'Sector', columnName: 'Year', rows: sectors.map(sentence), columns: jobYears },
      ...{ isTime: true, isWhole: true },
      values: sectors.map((sector) =>
        jobYears.map((year) => {
          const rows = jobs.filter(({ month }) => month.startsWith(year));
          return round(mean(rows.map((row) => +row[sector])), 0);
        }),
      ),
    },
  ];
}

function states(json, csv) {
  const people = csv('population_engineers_hurricanes.csv');
  const hit = people.filter(({ hurricanes }) => +hurricanes > 0);
  const obesity = json('obesity.json');
  const one = (name, title, unit, column, rows, value, isWhole) => ({
    ...{ name, title, unit, rowName: 'State', columnName: '', columns: [column], isWhole },
    ...{ rows: rows.map(({ state }) => state), values: rows.map((row) => [value(row)]) },
  });
  return [
    one(
      'hurricanes',
      'Hurricanes by state',
      'count',
      'Hurricanes',
      hit,
      (r) => +r.hurricanes,
      true,
    ),
    one('engineers', 'Engineers per thousand people', 'per 1000', 'Engineers', people, (r) =>
      round(r.engineers * 1000, 2),
    ),
    one(
      'population',
      'Population by state',
      'people',
      'Population',
      people,
      (r) => +r.population,
      true,
    ),
    one('obesity', 'Adult obesity rate', 'percent', 'Rate', obesity, (r) => round(r.rate * 100, 1)),
  ];
}

function climate(csv) {
  const warm = csv('global-temp.csv');
  const air = csv('co2-concentration.csv');
  const airYears = unique(air.map(({ Date: date }) => date.slice(0, 4))).filter(
    (year) => year > '1958' && year < '2020',
  );
  const days = csv('weather.csv');
  const cities = ['Seattle', 'New York'];
  const kinds = unique(days.map(({ weather }) => weather));
  const fields = [
    ['temp_max', 'Daily high temperature', 'degrees C'],
    ['precipitation', 'Precipitation per day', 'mm'],
    ['wind', 'Wind speed', 'm/s'],
  ];
  return [
    {
      ...{ name: 'global-temp', title: 'Global temperature anomaly', unit: 'degrees C' },
      ...{ rowName: 'Series', columnName: 'Year', rows: ['Anomaly'], isTime: true },
      columns: warm.map(({ year }) => year),
      values: [warm.map(({ temp }) => +temp)],
    },
    {
      ...{ name: 'co2', title: 'Carbon dioxide at Mauna Loa', unit: 'ppm' },
      ...{ rowName: 'Series', columnName: 'Year', rows: ['CO2'], columns: airYears, isTime: true },
      values: [
        airYears.map((year) =>
          round(mean(air.filter((row) => row.Date.startsWith(year)).map((row) => +row.CO2)), 1),
        ),
      ],
    },
    ...fields.map(([field, title, unit]) => ({
      ...{ name: `weather-${field}`, title, unit, rowName: 'City', columnName: 'Month' },
      ...{ rows: cities, columns: months, isTime: true },
      values: cities.map((city) =>
        months.map((_, month) => {
          const rows = days.filter(
            ({ location, date }) => location === city && +date.slice(5, 7) === month + 1,
          );
          return round(mean(rows.map((row) => +row[field])), 2);
        }),
      ),
    })),
    {
      ...{ name: 'weather-days', title: 'Days by kind of weather', unit: 'days', isWhole: true },
      ...{ rowName: 'City', columnName: 'Weather', rows: cities, columns: kinds },
      values: cities.map((city) =>
        kinds.map(
          (kind) => days.filter((row) => row.location === city && row.weather === kind).length,
        ),
      ),
    },
  ];
}

function other(json, csv) {
  const wheat = json('wheat.json').filter(({ wages }) => wages !== undefined && wages !== null);
  const burtin = json('burtin.json');
  const drugs = ['Penicillin', 'Streptomycin', 'Neomycin'];
  const penguins = penguinRows(json);
  const species = unique(penguins.map(({ Species }) => Species));
  const measures = ['Beak Length (mm)', 'Beak Depth (mm)', 'Flipper Length (mm)'];
  const strikes = csv('birdstrikes.csv');
  const phases = unique(strikes.map((row) => row['Phase of flight'])).filter((phase) =>
    /^[A-Z][A-Za-z ]+$/.test(phase),
  );
  const [sizes, times] = [
    ['Small', 'Medium', 'Large'],
    ['Day', 'Night', 'Dawn', 'Dusk'],
  ];
  return [
    {
      ...{ name: 'wheat', title: 'Wheat and wages in England', unit: 'shillings', isTime: true },
      ...{ rowName: 'Series', columnName: 'Year', rows: ['Wheat', 'Wages'] },
      columns: wheat.map(({ year }) => year),
      values: [wheat.map((row) => row.wheat), wheat.map(({ wages }) => wages)],
    },
    {
      ...{ name: 'burtin', title: 'Minimum inhibitory concentration', unit: 'ug/ml', isLog: true },
      ...{ rowName: 'Bacteria', columnName: 'Antibiotic', columns: drugs },
      rows: burtin.map(({ Bacteria }) => Bacteria),
      values: burtin.map((row) => drugs.map((drug) => row[drug])),
    },
    {
      ...{ name: 'penguins-mean', title: 'Measurements of penguins', unit: 'mm' },
      ...{ rowName: 'Species', columnName: 'Measure', rows: species },
      columns: ['Beak length', 'Beak depth', 'Flipper length'],
      values: species.map((one) =>
        measures.map((key) =>
          round(mean(penguins.filter((row) => row.Species === one).map((row) => row[key])), 1),
        ),
      ),
    },
    {
      ...{ name: 'birdstrikes', title: 'Bird strikes by phase of flight', unit: 'strikes' },
      ...{ rowName: 'Phase', columnName: '', rows: phases, columns: ['Strikes'], isWhole: true },
      values: phases.map((one) => [strikes.filter((row) => row['Phase of flight'] === one).length]),
    },
    {
      ...{ name: 'birdstrikes-size', title: 'Bird strikes by size and time', unit: 'strikes' },
      ...{ rowName: 'Size', columnName: 'Time', rows: sizes, columns: times, isWhole: true },
      values: sizes.map((size) =>
        times.map(
          (time) =>
            strikes.filter((row) => row['Wildlife Size'] === size && row['Time of day'] === time)
              .length,
        ),
      ),
    },
  ];
}

function penguinRows(json) {
  return json('penguins.json').filter((row) => row['Body Mass (g)'] && row['Beak Length (mm)']);
}

/** Points for scatter plots, in groups. */
function clouds(json) {
  const penguins = penguinRows(json);
  const nations = json('gapminder.json').filter(({ year }) => year === 2000);
  return [
    {
      ...{ name: 'penguins', title: 'Penguins', groupBy: 'Species', rows: penguins },
      fields: ['Beak Length (mm)', 'Beak Depth (mm)', 'Flipper Length (mm)', 'Body Mass (g)'],
    },
    {
      ...{ name: 'nations', title: 'Countries in 2000', groupBy: null, rows: nations },
      fields: ['fertility', 'life_expect'],
    },
  ];
}
