/**
 * Joins a plan with the parts that both libraries drew into the file of cases.
 *
 *   node join-cases.mjs plan.json OUT > cases.json
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [file, out] = process.argv.slice(2);
const read = (name) => JSON.parse(readFileSync(name, 'utf8'));
const parts = ['vega', 'matplotlib'].flatMap((name) => read(join(out, `parts-${name}.json`)));
const byId = new Map(parts.map(({ id, ...rest }) => [id, rest]));
const cases = read(file).map((one) => ({ ...one, ...byId.get(one.id) }));
process.stdout.write(`[\n${cases.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
