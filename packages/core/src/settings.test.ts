import { expect, it } from 'vitest';
import { z } from 'zod';
import { ConfigError } from './errors.ts';
import {
  choice,
  count,
  flag,
  listSettings,
  optionalText,
  quantity,
  readSettings,
  text,
  textList,
  unknownSetting,
} from './settings.ts';

const schema = z.strictObject({
  cards: count({ min: 1, max: 15, default: 4, unit: 'cards', about: 'Cards on the table.' }),
  share: quantity({
    min: 0,
    max: 1,
    default: 0.5,
    unit: 'fraction',
    about: 'Share of hard tasks.',
  }),
  isDark: flag({ default: false, about: 'Whether the table is dark.' }),
  order: choice(['first', 'random'], { default: 'first', about: 'Order of the cards.' }),
  label: text({ default: 'card', unit: 'text', about: 'What a card is called.' }),
  url: optionalText({ unit: 'URL', about: 'Where cards come from.' }),
  hosts: textList({ unit: 'URLs', about: 'Servers.' }),
  repetition: z
    .strictObject({
      weight: quantity({ min: -10, max: 10, default: 1, unit: 'factor', about: 'Its weight.' }),
    })
    .prefault({}),
});

const errorOf = (values: unknown): ConfigError => {
  try {
    readSettings('taskSet', schema, values);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('The values were accepted.');
};

it('fills in defaults and leaves optional fields out', () => {
  const settings = readSettings('taskSet', schema, { cards: 3 });
  expect(settings).toEqual({
    cards: 3,
    share: 0.5,
    isDark: false,
    order: 'first',
    label: 'card',
    hosts: [],
    repetition: { weight: 1 },
  });
  const order: 'first' | 'random' = settings.order;
  expect(order).toBe('first');
});

it('lists every field with its range, default, unit and meaning', () => {
  expect(
    listSettings(schema).map(({ path, range, default: preset }) => [path, range, preset]),
  ).toEqual([
    ['cards', 'an integer in [1, 15]', 4],
    ['share', 'a number in [0, 1]', 0.5],
    ['isDark', 'true or false', false],
    ['order', 'one of first, random', 'first'],
    ['label', 'text', 'card'],
    ['url', 'text', undefined],
    ['hosts', 'a list of texts', []],
    ['repetition.weight', 'a number in [-10, 10]', 1],
  ]);
  for (const { unit, about } of listSettings(schema)) expect(unit && about).not.toBe('');
});

it('names the field, what came and what was expected', () => {
  const error = errorOf({ cards: 'many' });
  expect(error.field).toBe('taskSet.cards');
  expect(error.message).toBe(
    'taskSet.cards: expected an integer in [1, 15] (cards), got "many", a string. Its default is 4.',
  );
  expect(errorOf({ repetition: { weight: Number.NaN } }).field).toBe('taskSet.repetition.weight');
  expect(errorOf(null).message).toContain('expected an object with fields, got null');
});

it('names the nearest known field of one that is misspelt', () => {
  expect(errorOf({ card: 3 }).message).toBe(
    'There is no setting taskSet.card. Did you mean taskSet.cards?',
  );
  expect(errorOf({ repetition: { wieght: 3 } }).message).toContain('taskSet.repetition.weight');
});

it('lists what is in a group where a group is set as if it were a field', () => {
  const error = unknownSetting('taskSet.repetition', 'repetition', listSettings(schema));
  expect(error.field).toBe('taskSet.repetition');
  expect(error.message).toBe(
    'taskSet.repetition is a group of settings. Set one of them: taskSet.repetition.weight.',
  );
});

it('keeps the message short when the unknown name is very long', () => {
  const { message } = errorOf({ ['x'.repeat(100_000)]: 1 });
  expect(message.length).toBeLessThan(1000);
});
