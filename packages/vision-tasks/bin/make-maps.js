/**
 * Writes data/maps.json from unpacked us-atlas 3.0.1, world-atlas 2.0.2 and vega-datasets 3.2.1.
 *
 *   npm pack us-atlas@3.0.1 world-atlas@2.0.2 vega-datasets@3.2.1
 *   node bin/make-maps.js us-atlas/package world-atlas/package vega-datasets/package/data
 *
 * Shapes are projected and rounded to pixels of a map whose longer side is 1000, so that nothing is
 * projected at run time. Two regions are neighbors where they share a line that one can see.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { geoAzimuthalEqualArea, geoIdentity, geoPath } from 'd3-geo';
import polylabel from 'polylabel';
import { feature } from 'topojson-client';

const [usAtlas, worldAtlas, vega] = process.argv.slice(2);
if (vega === undefined) throw new Error('Give the folders of us-atlas, world-atlas and vega data.');
const json = (...parts) => JSON.parse(readFileSync(join(...parts), 'utf8'));
const rowsOf = (name, separator) => {
  const [head, ...lines] = readFileSync(join(vega, name), 'utf8').trim().split(/\r?\n/);
  const keys = head.split(separator);
  return lines.map((line) => {
    const cells = line.split(separator);
    return Object.fromEntries(keys.map((key, i) => [key, cells[i]]));
  });
};
const round = (value, digits = 1) => Number(Number(value).toFixed(digits));

const SIDE = 1000;
/** Neighbors share at least this length in pixels; touching in less is left open. */
const SEEN = 12;

/** The ring's points in whole pixels, without repeated ones. */
function wholeRing(ring) {
  const whole = ring.map(([x, y]) => [Math.round(x), Math.round(y)]);
  return whole.filter(([x, y], i) => i === 0 || x !== whole[i - 1][0] || y !== whole[i - 1][1]);
}

/** Polygons of a projected feature: rings of points, in whole pixels. */
function polygonsOf(geometry) {
  const list = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  return list
    .map((rings) => rings.map(wholeRing).filter((ring) => ring.length >= 4))
    .filter((rings) => rings.length > 0);
}

/** A feature's geometry after a projection. */
function project(one, projection) {
  const lines = [];
  const context = {
    moveTo: (x, y) => lines.push([[x, y]]),
    lineTo: (x, y) => lines.at(-1).push([x, y]),
    closePath: () => lines.at(-1).push(lines.at(-1)[0]),
  };
  geoPath(projection, context)(one);
  return { type: 'MultiPolygon', coordinates: lines.map((line) => [line]) };
}

const areaOf = (ring) =>
  Math.abs(
    ring.reduce((sum, [x, y], i) => {
      const [u, v] = ring[(i + 1) % ring.length];
      return sum + x * v - u * y;
    }, 0) / 2,
  );

/** Lengths of the lines that two regions share, by the names of both. */
function sharedLengths(shapes) {
  const owner = new Map();
  const shared = new Map();
  for (const { name, polygons } of shapes) {
    for (const ring of polygons.flat()) {
      ring.forEach((point, i) => {
        const next = ring[(i + 1) % ring.length];
        const key = [point, next].map(String).sort().join(' ');
        const other = owner.get(key);
        owner.set(key, name);
        if (other === undefined || other === name) return;
        const pair = [name, other].sort().join('|');
        const length = Math.hypot(point[0] - next[0], point[1] - next[1]);
        shared.set(pair, (shared.get(pair) ?? 0) + length);
      });
    }
  }
  return shared;
}

/** One map: shapes with the place for a label, and neighbors; some have unclear ones. */
function makeMap(facts, features, projection, tables) {
  projection.fitExtent(
    [
      [2, 2],
      [SIDE - 2, SIDE - 2],
    ],
    { type: 'FeatureCollection', features },
  );
  const shapes = features.map((one) => ({
    name: one.properties.name,
    polygons: polygonsOf(project(one, projection)),
  }));
  const shared = sharedLengths(shapes);
  const points = shapes.flatMap(({ polygons }) => polygons.flat(2));
  const [left, top] = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])) - 2);
  const [right, bottom] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])) + 2);
  const regions = shapes.map(({ name, polygons }) => {
    const moved = polygons.map((rings) =>
      rings.map((ring) => ring.map(([x, y]) => [x - left, y - top])),
    );
    const largest = [...moved].sort((a, b) => areaOf(b[0]) - areaOf(a[0]))[0];
    const spot = polylabel(largest, 1);
    const touching = [...shared].filter(([pair]) => pair.split('|').includes(name));
    const other = (pair) => pair.split('|').find((each) => each !== name);
    return {
      name,
      path: moved
        .flat()
        .map((ring) => `M${ring.map((point) => point.join(' ')).join('L')}Z`)
        .join(''),
      spot: [round(spot[0], 0), round(spot[1], 0)],
      room: round(spot.distance),
      neighbors: touching
        .filter(([, length]) => length >= SEEN)
        .map(([pair]) => other(pair))
        .sort(),
      ...(touching.some(([, length]) => length < SEEN) ? { isUnclear: true } : {}),
    };
  });
  return { ...facts, width: right - left, height: bottom - top, regions, tables };
}

const numbersOf = (features, numberOf) =>
  Object.fromEntries(
    features
      .map(({ id, properties }) => [properties.name, numberOf(properties.name, id)])
      .filter(([, value]) => Number.isFinite(value)),
  );

const maps = [];

// Counties of one state, by their rate of unemployment.
const atlas = json(usAtlas, 'counties-albers-10m.json');
const counties = feature(atlas, atlas.objects.counties).features;
const rates = new Map(
  rowsOf('unemployment.tsv', '\t').map(({ id, rate }) => [id.padStart(5, '0'), round(rate * 100)]),
);
const countiesOf = {
  train: [
    ['01', 'Alabama'],
    ['04', 'Arizona'],
    ['05', 'Arkansas'],
    ['16', 'Idaho'],
    ['18', 'Indiana'],
    ['25', 'Massachusetts'],
    ['26', 'Michigan'],
    ['27', 'Minnesota'],
    ['28', 'Mississippi'],
    ['33', 'New Hampshire'],
    ['36', 'New York'],
    ['38', 'North Dakota'],
    ['40', 'Oklahoma'],
    ['41', 'Oregon'],
    ['42', 'Pennsylvania'],
    ['46', 'South Dakota'],
    ['53', 'Washington'],
    ['54', 'West Virginia'],
  ],
  heldOut: [
    ['06', 'California'],
    ['08', 'Colorado'],
    ['12', 'Florida'],
    ['23', 'Maine'],
    ['30', 'Montana'],
    ['31', 'Nebraska'],
    ['34', 'New Jersey'],
    ['35', 'New Mexico'],
    ['39', 'Ohio'],
    ['45', 'South Carolina'],
    ['49', 'Utah'],
    ['50', 'Vermont'],
    ['55', 'Wisconsin'],
    ['56', 'Wyoming'],
  ],
};
for (const [split, list] of Object.entries(countiesOf)) {
  for (const [code, state] of list) {
    const features = counties.filter(({ id }) => id.startsWith(code));
    const values = numbersOf(features, (_, id) => rates.get(id));
    const facts = {
      id: `counties-${code}`,
      split,
      place: state,
      region: ['county', 'counties'],
      source: 'us-atlas counties-albers-10m.json; vega-datasets unemployment.tsv',
    };
    const table = { measure: 'unemployment rate', unit: 'percent', when: '2009', values };
    maps.push(makeMap(facts, features, geoIdentity(), [table]));
  }
}

// States of a census region.
const states = feature(atlas, atlas.objects.states).features;
const people = new Map(
  rowsOf('population_engineers_hurricanes.csv', ',').map((row) => [row.state, row]),
);
const obesity = new Map(json(vega, 'obesity.json').map(({ id, rate }) => [id, rate]));
const stateTables = (features) => [
  {
    measure: 'obesity rate',
    unit: 'percent',
    when: '',
    values: numbersOf(features, (_, id) => round(obesity.get(Number(id)) * 100)),
  },
  {
    measure: 'population',
    unit: 'millions',
    when: '',
    values: numbersOf(features, (name) => round(people.get(name)?.population / 1e6, 2)),
  },
  {
    measure: 'share of engineers',
    unit: 'per 10,000 people',
    when: '',
    values: numbersOf(features, (name) => round(people.get(name)?.engineers * 1e4)),
  },
];
const statesOf = {
  train: {
    Midwestern:
      'Illinois,Indiana,Iowa,Kansas,Michigan,Minnesota,Missouri,Nebraska,North Dakota,Ohio,' +
      'South Dakota,Wisconsin',
    Northeastern:
      'Connecticut,Maine,Massachusetts,New Hampshire,New Jersey,New York,Pennsylvania,' +
      'Rhode Island,Vermont',
  },
  heldOut: {
    Southern:
      'Alabama,Arkansas,Delaware,Florida,Georgia,Kentucky,Louisiana,Maryland,Mississippi,' +
      'North Carolina,Oklahoma,South Carolina,Tennessee,Texas,Virginia,West Virginia',
    Western:
      'Arizona,California,Colorado,Idaho,Montana,Nevada,New Mexico,Oregon,Utah,Washington,Wyoming',
  },
};
for (const [split, byPlace] of Object.entries(statesOf)) {
  for (const [place, names] of Object.entries(byPlace)) {
    const features = states.filter(({ properties }) => names.split(',').includes(properties.name));
    const facts = {
      id: `states-${place.replace('ern', '').toLowerCase()}`,
      split,
      place: `${place} United States`,
      region: ['state', 'states'],
      source:
        'us-atlas counties-albers-10m.json; vega-datasets obesity.json, population_engineers_hurricanes.csv',
    };
    maps.push(makeMap(facts, features, geoIdentity(), stateTables(features)));
  }
}

// Countries of a continent.
const world = json(worldAtlas, 'countries-50m.json');
const countries = feature(world, world.objects.countries).features;
const gapminder = json(vega, 'gapminder.json');
const countryTables = (features) =>
  ['1960', '1980', '2000'].flatMap((year) => {
    const rows = new Map(
      gapminder.filter((row) => String(row.year) === year).map((row) => [row.country, row]),
    );
    const table = (measure, unit, field, scale) => ({
      measure,
      unit,
      when: year,
      values: numbersOf(features, (name) => round(rows.get(name)?.[field] * scale)),
    });
    return [
      table('life expectancy', 'years', 'life_expect', 1),
      table('fertility', 'children per woman', 'fertility', 1),
    ];
  });
const continents = [
  {
    split: 'train',
    place: 'South America',
    center: [60, 20],
    box: [-85, -58, -30, 15],
    names:
      'Argentina,Bolivia,Brazil,Chile,Colombia,Ecuador,Guyana,Paraguay,Peru,Suriname,Uruguay,Venezuela',
  },
  {
    split: 'heldOut',
    place: 'Europe',
    center: [-12, -53],
    box: [-25, 34, 42, 72],
    names:
      'Albania,Austria,Belarus,Belgium,Bosnia and Herz.,Bulgaria,Croatia,Czechia,Denmark,Estonia,' +
      'Finland,France,Germany,Greece,Hungary,Iceland,Ireland,Italy,Latvia,Lithuania,Luxembourg,' +
      'Macedonia,Moldova,Montenegro,Netherlands,Norway,Poland,Portugal,Romania,Serbia,Slovakia,' +
      'Slovenia,Spain,Sweden,Switzerland,United Kingdom',
  },
];
/** Only the parts of a country that start inside a box of west, south, east and north. */
function within(one, [west, south, east, north]) {
  const { type, coordinates } = one.geometry;
  const polygons = type === 'Polygon' ? [coordinates] : coordinates;
  const inside = polygons.filter(([[[x, y]]]) => x > west && x < east && y > south && y < north);
  return { ...one, geometry: { type: 'MultiPolygon', coordinates: inside } };
}
for (const { split, place, center, box, names } of continents) {
  const features = countries
    .filter(({ properties }) => names.split(',').includes(properties.name))
    .map((one) => within(one, box));
  const facts = {
    id: `countries-${place.toLowerCase().replace(' ', '-')}`,
    split,
    place,
    region: ['country', 'countries'],
    source: 'world-atlas countries-50m.json; vega-datasets gapminder.json',
  };
  maps.push(
    makeMap(facts, features, geoAzimuthalEqualArea().rotate(center), countryTables(features)),
  );
}

const lines = maps.map((map) => `  ${JSON.stringify(map)}`);
const text = `[\n${lines.join(',\n')}\n]\n`;
writeFileSync(new URL('../data/maps.json', import.meta.url), text);
for (const { id, split, regions, tables, width, height } of maps) {
  const unclear = regions.filter(({ isUnclear }) => isUnclear).length;
  const known = Object.keys(tables[0].values).length;
  console.log(
    `${id} (${split}): ${regions.length} regions, ${known} with values, ${unclear} unclear, ` +
      `${width}×${height}`,
  );
}
console.log(`${text.length} bytes`);
