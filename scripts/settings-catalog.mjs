/**
 * Writes docs/settings.md: every unit of every slot of a run, and the --set that reaches each of its
 * settings.
 *
 *   node scripts/settings-catalog.mjs          # writes it, from the compiled packages
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const TARGET = 'docs/settings.md';

/** A cell of a table: bars would end it. */
const cell = (text) => String(text).replaceAll('|', '\\|');

function row({ path, default: preset, isRequired, range, unit, about }) {
  const shown = isRequired
    ? 'required'
    : preset === undefined
      ? 'unset'
      : `\`${JSON.stringify(preset)}\``;
  return `| ${[`\`--set ${path}=…\``, shown, range, unit, about].map(cell).join(' | ')} |`;
}

const HEAD = '| setting | default | values | unit | meaning |\n| --- | --- | --- | --- | --- |';

function table(fields) {
  return `${HEAD}\n${fields.map(row).join('\n')}`;
}

const textOf = (field) => JSON.stringify(field);

/** One slot: its units, settings that all of them share, and each unit's own. */
function slotSection(key, { about, registry, preset, isList }, fieldsOfUnit) {
  const units = registry.entries().map(([name, unit]) => {
    return { name, description: unit.description, fields: fieldsOfUnit(key, name) };
  });
  const [first] = units;
  const common =
    units.length < 2 || isList
      ? []
      : first.fields.filter((field) =>
          units.every(({ fields }) => fields.some((other) => textOf(other) === textOf(field))),
        );
  const shared = new Set(common.map(textOf));
  const choose = isList ? `\`--set ${key}=<name>,<name>\`` : `\`--set ${key}=<name>\``;
  const initial = preset === undefined ? 'Empty by default.' : `Default: \`${preset}\`.`;
  const parts = [`## ${key}\n\n${about} Choose with ${choose}. ${initial}`];
  if (common.length > 0) parts.push(`Every unit has these settings:\n\n${table(common)}`);
  for (const { name, description, fields } of units) {
    const own = fields.filter((field) => !shared.has(textOf(field)));
    const rest = common.length > 0 ? 'It has no other settings.' : 'It has no settings.';
    parts.push(`### ${key}=${name}\n\n${description}\n\n${own.length > 0 ? table(own) : rest}`);
  }
  return parts.join('\n\n');
}

/** The text of docs/settings.md. Needs the packages compiled. */
export async function settingsPage(root) {
  const compiled = join(root, 'packages/train/dist/index.js');
  const { fieldsOf, slots } = await import(pathToFileURL(compiled).href);
  const fieldsOfUnit = (key, name) => {
    const prefix = slots[key].isList ? `${key}.${name}.` : `${key}.`;
    // A profile's units are those of the algorithm itself.
    return fieldsOf({ [key]: name }).filter(({ path }) => path.startsWith(prefix));
  };
  const sections = fieldsOf({}).filter(({ path }) => !Object.hasOwn(slots, path.split('.')[0]));
  const bySlot = Object.entries(slots).map(([key, slot]) => slotSection(key, slot, fieldsOfUnit));
  return `# Settings

Every unit that a run can name, and the \`--set\` that reaches each of its settings. A setting may be
written by its last words where only one field ends in them: \`--set clipHigh=0.2\`. A reward's term
by its name means its weight: \`--set reward.accuracy=2\`. \`null\` empties a slot that may be empty:
\`--set judge=null\`. A recipe file takes the same names, and units of your own in the same places;
\`saccade recipes show <recipe>\` lists the fields of one recipe with its values. This page is written
by \`node scripts/settings-catalog.mjs\`.

## The run

${table(sections)}

${bySlot.join('\n\n')}
`;
}

/** Lists the problems with docs/settings.md. */
export async function checkSettingsPage(root) {
  const path = join(root, TARGET);
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === (await settingsPage(root));
  return isCurrent ? [] : [`${TARGET} is not current. Run node scripts/settings-catalog.mjs.`];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  writeFileSync(join(root, TARGET), await settingsPage(root));
}
