/** A table on a page, with every form of it to download. */
import { type Html, html } from '../html.ts';
import { formatCell, type Table } from './table.ts';
import { type TableFormat, tableFormats, writeTable } from './write-table.ts';

const names: Readonly<Record<TableFormat, string>> = {
  csv: 'CSV',
  json: 'JSON',
  tex: 'LaTeX',
  md: 'Markdown',
};
const types: Readonly<Record<TableFormat, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  tex: 'application/x-tex',
  md: 'text/markdown',
};

/** A table in a card. The files are in the page, so nothing is loaded and no script is needed. */
export function drawTable(table: Table): Html {
  const { title, about, columns, rows, name } = table;
  const numeric = columns.map(({ kind }) => kind !== 'text');
  return html`<section class="table-card card" id="table-${name}">
<div class="table-head"><h3>${title}</h3><p class="downloads"><span class="hidden">Download this table:</span> ${tableFormats.map(
    (format) =>
      html`<a download="${name}.${format}" href="${fileUri(table, format)}">${names[format]}</a> `,
  )}</p></div>
<p class="about">${about}</p>
<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${columns.map(({ title: heading }, index) => html`<th scope="col"${numeric[index] === true && html` class="n"`}>${heading}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr>${columns.map(({ kind }, index) => {
        const text = formatCell(row[index], kind);
        if (index === 0) return html`<th scope="row">${text}</th>`;
        return html`<td${numeric[index] === true && html` class="n"`}>${text}</td>`;
      })}</tr>`,
  )}</tbody></table></div>
</section>`;
}

function fileUri(table: Table, format: TableFormat): string {
  const bytes = Buffer.from(writeTable(table, format), 'utf8');
  return `data:${types[format]};charset=utf-8;base64,${bytes.toString('base64')}`;
}
