/** The verifiers against tables of answers; `math` has its own. */
import { describe, expect, it } from 'vitest';
import type { Verifier } from '../reward.ts';
import { anls } from './anls.ts';
import { boxIou } from './box-iou.ts';
import { contains } from './contains.ts';
import { counting } from './counting.ts';
import { exact } from './exact.ts';
import { mra } from './mra.ts';
import { multipleChoice, multipleChoiceOf } from './multiple-choice.ts';
import { quantity, quantityRelaxed, quantityWithin } from './quantity.ts';

type Row = readonly [answer: string, expected: string, score: number];

function table(verifier: Verifier, rows: readonly Row[]): void {
  it.each(rows)(`${verifier.name}: "%s" for "%s" is %d`, (answer, expected, score) => {
    expect(verifier.verify(answer, expected)).toBeCloseTo(score, 12);
  });
}

describe('exact', () => {
  table(exact, [
    ['\\boxed{Red}', 'red', 1],
    ['$1,024', '1024', 1],
    ['$x$', 'x', 1],
    ['5 cm', '5', 1],
    ['5', '5 cm', 1],
    ['5 cm', '5 m', 0],
    ['5cm', '5 cm.', 0],
    ['red, blue', 'red  blue', 1],
    ['1,2', '12', 0],
    ['1,000,000', '1000000', 1],
    ['cm', '', 0],
    ['three', '3', 0],
    ['ＡＢ', 'ab', 1],
  ]);
});

describe('contains', () => {
  table(contains, [
    ['It says Centre.', 'CENTRE', 1],
    ['CENTER', 'CENTRE', 0],
    ['two\n lines', 'Two lines', 1],
    ['twolines', 'two lines', 0],
    ['b', '["a", "B"]', 1],
    ['c', '["a", "b"]', 0],
    ['= \\frac{1}{2} x', '\\frac { 1 } { 2 }', 1],
    ['\\frac{X}{2}', '\\frac { x } { 2 }', 0],
    ['anything', '', 0],
    ['', 'a', 0],
  ]);
});

describe('multiple choice', () => {
  table(multipleChoice, [
    ['B', 'B', 1],
    ['(b)', 'B', 1],
    ['B. red', 'B', 1],
    ['B', '(B) red', 1],
    ['B) red', 'B. red', 1],
    ['The answer is B.', 'B', 1],
    ['Option C', 'C', 1],
    ['\\boxed{\\text{(A)}}', 'A', 1],
    ['**B**', 'B', 1],
    ['red', 'red', 1],
    ['B. red', 'red', 1],
    ['B. blue', 'B. red', 0],
    ['A', 'B', 0],
    ['A red ball', 'A', 0],
    ['A or B', 'A', 0],
    ['', 'A', 0],
    ['red', 'B', 0],
  ]);
  const colors = multipleChoiceOf(['black', 'red', 'blue', 'pink']);
  table(colors, [
    ['red', 'B', 1],
    ['B', 'red', 1],
    ['(B) red', 'B', 1],
    ['B. blue', 'B', 1],
    ['blue', 'B', 0],
    ['green', 'B', 0],
    ['E', 'B', 0],
    ['Red.', 'B. red', 1],
  ]);
});

describe('quantity', () => {
  table(quantity, [
    ['5 cm', '0.05 m', 1],
    ['5 cm', '5', 1],
    ['5 cm', '5 kg', 0],
    ['5 cm', '5 m', 0],
    ['36 km/h', '10 m/s', 1],
    ['1 L', '1000 ml', 1],
    ['1 m^2', '10000 square centimeters', 1],
    ['50%', '0.5', 1],
    ['50%', '50', 1],
    ['0.5', '50%', 1],
    ['50', '0.5', 0],
    ['1.2 million', '1,200,000', 1],
    ['$3.50', '3.5 dollars', 1],
    ['90^\\circ', '90 degrees', 1],
    ['\\boxed{5\\text{ cm}}', '5 cm', 1],
    ['-3', '\u22123', 1],
    ['five', '5', 0],
    ['5 apples', '5', 0],
    ['1e400', '1e400', 0],
  ]);
  table(quantityWithin({ relativeTolerance: 0.1, absoluteTolerance: 1 }), [
    ['11', '10', 1],
    ['11.1', '10', 0],
    ['0.9', '0', 1],
    ['1.5 m', '150 cm', 1],
  ]);
  // Relaxed accuracy allows five percent of what is expected, ChartQA's examples being numbers.
  table(quantityRelaxed, [
    ['105', '100', 1],
    ['95', '100', 1],
    ['105.1', '100', 0],
    ['0', '0', 1],
    ['0.01', '0', 0],
    ['Yes', 'yes', 1],
    ['No', 'yes', 0],
    ['104%', '100', 1],
  ]);
});

describe('anls', () => {
  // The examples of the Robust Reading Competition's page on the metric (rrc.cvc.uab.es, task 11).
  const answers = JSON.stringify(['Coca Cola', 'Coca Cola Company']);
  it.each([
    ['The Coca', 0],
    ['CocaCola', 0.89],
    ['Coca cola', 1],
    ['Cola', 0],
    ['Cat', 0],
  ])('%s scores %d', (answer, score) => {
    expect(anls.verify(answer, answers)).toBeCloseTo(score, 2);
  });
  table(anls, [
    ['[not json', '[not json', 1],
    ['', '', 0],
    ['abcd', 'abxx', 0],
    ['abcd', 'abcx', 0.75],
  ]);
});

describe('mra', () => {
  // Worked by hand from the formula: 9 for 10 is 0.1 off, inside the tolerances 0.5 down to 0.15.
  table(mra, [
    ['9', '10', 0.8],
    ['10', '10', 1],
    ['6', '10', 0.2],
    ['5', '10', 0],
    ['15', '10', 0],
    ['0', '0', 1],
    ['1', '0', 0],
    ['far', '10', 0],
  ]);
});

describe('box IoU', () => {
  table(boxIou, [
    ['[0,0,10,10]', '[5,5,15,15]', 1 / 7],
    ['{"bbox_2d": [0, 0, 10, 10]}', '[0,0,10,10]', 1],
    ['(0,0),(10,10)', '[0,0,10,10]', 1],
    ['[0,0,10,10]', '[10,10,20,20]', 0],
    ['[10,10,0,0]', '[0,0,10,10]', 0],
    ['[0,0,10]', '[0,0,10,10]', 0],
    ['[0,0,10,10] or [1,1,9,9]', '[0,0,10,10]', 0],
  ]);
});

describe('counting', () => {
  table(counting, [
    ['3', '3', 1],
    ['three', '3', 1],
    ['There are 3 dogs.', '3', 1],
    ['Twenty-one', '21', 1],
    ['\\boxed{12}', 'twelve', 1],
    ['3.0', '3', 1],
    ['3 or 4', '3', 0],
    ['3.5', '3', 0],
    ['none', '0', 0],
    ['1,024 people', '1024', 1],
  ]);
});
