/** Units of measurement: their names, and what they are in units of one dimension. */

export interface Unit {
  /** Powers by dimension, sorted: `length:1 time:-1`. Units convert exactly if these are the same. */
  readonly dimension: string;
  /** How many base units it is. */
  readonly factor: number;
}

/** dimension → [factor, names]; the first names are also those of the singular. */
const table: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
  length: [
    [1e-9, 'nm nanometer nanometre'],
    [1e-6, 'μm µm micrometer micrometre micron'],
    [1e-3, 'mm millimeter millimetre'],
    [1e-2, 'cm centimeter centimetre'],
    [1e-1, 'dm decimeter decimetre'],
    [1, 'm meter metre'],
    [1e3, 'km kilometer kilometre'],
    [0.0254, 'in inch inches'],
    [0.3048, 'ft foot feet'],
    [0.9144, 'yd yard'],
    [1609.344, 'mi mile'],
  ],
  mass: [
    [1e-3, 'mg milligram'],
    [1, 'g gram gramme'],
    [1e3, 'kg kilogram kilo'],
    [1e6, 't ton tonne'],
    [453.59237, 'lb lbs pound'],
    [28.349523125, 'oz ounce'],
  ],
  time: [
    [1e-3, 'ms millisecond'],
    [1, 's sec second'],
    [60, 'min minute'],
    [3600, 'h hr hrs hour'],
    [86400, 'd day'],
    [604800, 'wk week'],
    [2629746, 'mo month'],
    [31556952, 'yr year'],
  ],
  angle: [
    [1, 'degree deg °'],
    [180 / Math.PI, 'rad radian'],
  ],
  money: [
    [1, 'dollar usd $'],
    [0.01, 'cent ¢'],
  ],
  euro: [[1, 'euro eur €']],
  pound: [[1, 'gbp £']],
  yuan: [[1, 'yuan rmb cny']],
  yen: [[1, 'yen jpy ¥']],
  celsius: [[1, 'celsius °c c℃']],
  fahrenheit: [[1, 'fahrenheit °f']],
  kelvin: [[1, 'k kelvin']],
  energy: [
    [1, 'j joule'],
    [1e3, 'kj kilojoule'],
    [4.184, 'cal calorie'],
    [4184, 'kcal kilocalorie'],
  ],
  force: [
    [1, 'n newton'],
    [1e3, 'kn kilonewton'],
  ],
  power: [
    [1, 'w watt'],
    [1e3, 'kw kilowatt'],
    [1e6, 'mw megawatt'],
  ],
  voltage: [[1, 'v volt']],
  current: [[1, 'a amp ampere']],
  resistance: [[1, 'ω ohm']],
  frequency: [
    [1, 'hz hertz'],
    [1e3, 'khz kilohertz'],
    [1e6, 'mhz megahertz'],
    [1e9, 'ghz gigahertz'],
  ],
  pressure: [
    [1, 'pa pascal'],
    [1e3, 'kpa kilopascal'],
  ],
  people: [[1, 'people person persons']],
  unit: [[1, 'unit']],
  pixel: [[1, 'px pixel']],
};

interface Named {
  readonly dimension: string;
  readonly factor: number;
  readonly power: number;
}

const byName: ReadonlyMap<string, Named> = new Map<string, Named>([
  ...Object.entries(table).flatMap(([dimension, units]) =>
    units.flatMap(([factor, names]) =>
      names
        .split(' ')
        .flatMap((name) => (/^[a-z]{3,}$/.test(name) ? [name, `${name}s`] : [name]))
        .map((name) => [name, { dimension, factor, power: 1 }] as const),
    ),
  ),
  ...['l', 'liter', 'liters', 'litre', 'litres'].map(
    (name) => [name, { dimension: 'length', factor: 1e-3, power: 3 }] as const,
  ),
  ...['ml', 'milliliter', 'milliliters', 'millilitre', 'millilitres'].map(
    (name) => [name, { dimension: 'length', factor: 1e-6, power: 3 }] as const,
  ),
]);

const compound: Readonly<Record<string, string>> = {
  mph: 'mi/h',
  kph: 'km/h',
  kmh: 'km/h',
  'sq.': 'square',
};

const powers: Readonly<Record<string, number>> = { '²': 2, '³': 3, '2': 2, '3': 3 };

/**
 * Reads a unit: `cm`, `square feet`, `km/h`, `miles per hour`, `m^2`; undefined if any part is not
 * known.
 */
export function parseUnit(text: string): Unit | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/\bper\b/g, '/')
    .replace(/\^\s*\{?\s*(\d)\s*\}?/g, '$1')
    .replace(/\b(?:mph|kph|kmh)\b|\bsq\./g, (name) => compound[name] ?? name);
  if (plain === '' || plain.length > 60) return undefined;
  const exponents = new Map<string, number>();
  let factor = 1;
  let sign = 1;
  let wordPower = 1;
  for (const part of plain.split(/\s*([/·*]|\s)\s*/).filter((one) => one.trim() !== '')) {
    if (part === '/') sign = -1;
    else if (part === 'square' || part === 'sq') wordPower = 2;
    else if (part === 'cubic' || part === 'cu') wordPower = 3;
    else if (part !== '·' && part !== '*') {
      const suffix = powers[part.at(-1) ?? ''];
      const name = suffix === undefined ? part : part.slice(0, -1);
      const unit = byName.get(name);
      if (unit === undefined) return undefined;
      const power = sign * wordPower * (suffix ?? 1);
      factor *= unit.factor ** power;
      exponents.set(unit.dimension, (exponents.get(unit.dimension) ?? 0) + power * unit.power);
      wordPower = 1;
    }
  }
  if (exponents.size === 0) return undefined;
  const dimension = [...exponents]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, power]) => `${name}:${power}`)
    .join(' ');
  return { dimension, factor };
}
