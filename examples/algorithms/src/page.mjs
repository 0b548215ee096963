/** The same step in a page: choose an algorithm, see every token. */
import { algorithms } from '@saccade/algorithms';
import { rowsOf } from './rows.mjs';
import { tenLines } from './ten-lines.mjs';

const choice = /** @type {HTMLSelectElement} */ (document.querySelector('#algorithm'));
const table = /** @type {HTMLTableElement} */ (document.querySelector('#tokens'));
const told = /** @type {HTMLOutputElement} */ (document.querySelector('#loss'));

/** @param {string} tag @param {string[]} texts */
function rowOf(tag, texts) {
  const row = document.createElement('tr');
  for (const text of texts)
    row.append(Object.assign(document.createElement(tag), { textContent: text }));
  return row;
}

function show() {
  const { loss, explanation } = tenLines(choice.value);
  const rows = rowsOf(explanation);
  const heads = rowOf('th', Object.keys(rows[0] ?? {}));
  table.replaceChildren(heads, ...rows.map((row) => rowOf('td', Object.values(row).map(String))));
  told.value = `loss ${loss.toFixed(6)}`;
}

// The example brings rewards and log-probs, and one clip: what needs more is left out.
const names = algorithms.entries().filter(([, { needs, settings }]) => {
  return needs.length === 0 && 'clipHigh' in settings;
});
for (const [name, { stages, description }] of names) {
  if (!stages.includes('select')) choice.append(new Option(`${name}: ${description}`, name));
}
choice.value = 'dapo';
choice.addEventListener('change', show);
show();
