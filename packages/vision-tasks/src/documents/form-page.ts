/** Pages of filled forms, one for each country, with questions about a field. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import { valueAt } from '../charts/plan-chart.ts';
import { inWords, type Table } from '../charts/tables.ts';
import { Page } from '../rendering/page.ts';
import type { AskedDocument } from './document.ts';
import { type DocumentStyle, textWidth } from './document-style.ts';

/** Columns and rows of forms on a page, by density 1 to 5. */
const gridOfLevel = [
  [1, 2],
  [1, 4],
  [2, 5],
  [2, 8],
  [2, 9],
] as const;

/** The tables whose values a form has, by their ids. */
const measures = ['life-expectancy', 'fertility', 'population'] as const;

interface Field {
  readonly label: string;
  readonly text: string;
}

interface Form {
  readonly country: string;
  readonly year: string;
  readonly number: string;
  readonly fields: readonly Field[];
}

type Printed = AskedDocument['words'][number];

/** A page of forms. */
export function formPage(
  tables: readonly Table[],
  style: DocumentStyle,
  level: number,
  random: Random,
): AskedDocument | undefined {
  const [across, down] = gridOfLevel[level - 1] ?? gridOfLevel[0];
  const forms = fillForms(tables, across * down, random);
  const page = new Page(style.width, style.height);
  const words: Printed[] = [];
  const { margin, title } = style;
  const head = 'Register of countries';
  words.push({ text: head, box: page.text(head, margin, margin + title.size, title) });
  const top = margin + title.size * 1.9;
  const gap = margin * 0.4;
  const width = (style.width - 2 * margin - (across - 1) * gap) / across;
  const height = (style.height - top - margin - (down - 1) * gap) / down;
  const boxes = forms.map((form, index) => {
    const left = margin + (index % across) * (width + gap);
    const upper = top + Math.floor(index / across) * (height + gap);
    return drawForm(page, form, [left, upper, left + width, upper + height], style, words);
  });
  const place = random.integer(forms.length);
  const [form, drawn] = [forms[place], boxes[place]];
  if (form === undefined || drawn === undefined) return undefined;
  const { country, number, fields } = form;
  const sources = ['gapminder.json'];
  const found = (label: string): Box => drawn.get(label) ?? [0, 0, 0, 0];
  if (random.integer(3) === 0) {
    const question = `Which country does the form with the number ${number} describe?`;
    const evidence = [found('Form no.'), found('Country')];
    return { page, operation: 'owner', question, answer: country, evidence, words, sources };
  }
  const field = random.pick(fields.filter(({ label }) => label !== 'Country'));
  const question = `What is written in the field “${field.label}” of the form for ${inWords(country)}?`;
  const evidence = [found('Country'), found(field.label)];
  return { page, operation: 'field', question, answer: field.text, evidence, words, sources };
}

/** Different countries, each with a year and a number of its own. */
function fillForms(tables: readonly Table[], count: number, random: Random): readonly Form[] {
  const used = measures.map((id) => tables.find((table) => table.id === id)) as Table[];
  const [first] = used;
  const rows = random.shuffle(first?.rows ?? []).slice(0, count);
  const numbers = new Set<string>();
  return rows.map(({ name: country }) => {
    let number = '';
    while (number === '' || numbers.has(number)) number = String(10_000 + random.integer(90_000));
    numbers.add(number);
    const year = random.pick(first?.columns ?? []);
    const values = used.map((table) => ({
      label: `${table.measure.charAt(0).toUpperCase()}${table.measure.slice(1)} (${table.unit})`,
      text: valueAt(table, country, year).toFixed(1),
    }));
    const fields = [
      { label: 'Form no.', text: number },
      { label: 'Country', text: country },
      { label: 'Year', text: year },
      ...values,
    ];
    return { country, year, number, fields };
  });
}

/** Draws a form, and gives the box of the value of each field. */
function drawForm(
  page: Page,
  { fields }: Form,
  [left, top, right, bottom]: Box,
  { regular, bold, isBanded }: DocumentStyle,
  words: Printed[],
): ReadonlyMap<string, Box> {
  page.frame([left, top, right, bottom], 0.6);
  const pad = regular.size * 0.6;
  const step = (bottom - top - 2 * pad) / fields.length;
  const values = left + pad + Math.max(...fields.map(({ label }) => textWidth(label, regular)));
  const boxes = new Map<string, Box>();
  for (const [index, { label, text }] of fields.entries()) {
    const y = top + pad + (index + 0.5) * step + regular.size * 0.35;
    words.push({ text: label, box: page.text(label, left + pad, y, regular) });
    const around: Box = [values + pad, y - regular.size, right - pad, y + regular.size * 0.4];
    if (isBanded) page.fill(around, 0.07);
    else page.frame(around, 0.35);
    const box = page.text(text, values + pad * 1.6, y, bold);
    words.push({ text, box });
    boxes.set(label, box);
  }
  return boxes;
}
