/**
 * One row of published sets in exactly their columns, as `schemaFrom` of each mapping says where they were
 * read. Values are made up; names and types of columns are not.
 */
import { benchmarks } from './published-benchmarks.fixture.ts';
import { morePublished } from './published-more.fixture.ts';
import { IMAGE, type Published } from './published-row.fixture.ts';

export const published: Readonly<Record<string, Published>> = {
  saccade: {
    row: { id: 'a', images: [IMAGE], question: 'q?', answer: 'x', metadata: '{"box":[1,2]}' },
    question: 'q?',
    answer: 'x',
    images: 1,
    metadata: { box: [1, 2] },
  },
  'saccade-folder': {
    row: { image: IMAGE, id: 'a', question: 'q?', answer: 'x', metadata: '{"box":[1,2]}' },
    question: 'q?',
    answer: 'x',
    images: 1,
  },
  'saccade-webdataset': {
    row: { '0.png': IMAGE, json: { question: 'q?', answer: 'x', metadata: { n: 1 } } },
    question: 'q?',
    answer: 'x',
    images: 1,
  },
  figureqa: {
    row: { question_string: 'Is A the minimum?', question_id: 2, image_index: 7, answer: 1 },
    wrap: (row) => ({ qa_pairs: [row] }),
    files: ['png/7.png'],
    question: 'Is A the minimum?',
    answer: 'Yes',
    images: 1,
  },
  cauldron: {
    row: {
      images: [IMAGE],
      texts: [{ user: 'Which is red?', assistant: 'Answer: The left one.', source: 'plotqa' }],
    },
    question: 'Which is red?',
    answer: 'The left one',
    images: 1,
    metadata: { origin: 'plotqa' },
  },
  chartqa: {
    row: { image: IMAGE, query: 'How many?', label: ['14'], human_or_machine: 0 },
    question: 'How many?',
    answer: '14',
    images: 1,
  },
  'chartqa-lmms': {
    row: { type: 'human_test', question: 'How many?', answer: '14', image: IMAGE },
    question: 'How many?',
    answer: '14',
    images: 1,
  },
  geometry3k: {
    row: { images: [IMAGE], problem: '<image>Find $x$.', answer: '3' },
    question: 'Find $x$.',
    answer: '3',
    images: 1,
  },
  geoqa: {
    row: {
      subject: 'Find the angle.',
      image: IMAGE,
      choices: ['10°', '20°', '30°', '40°'],
      label: 2,
      formal_point: ['p'],
    },
    question: /Find the angle\.\n\(A\) 10°/,
    answer: 'C',
    images: 1,
  },
  unigeo: {
    row: { English_problem: 'Find AB.', image: IMAGE, choice_nums: [1.5, 2, 3, 4], label: 0 },
    question: /\(A\) 1\.5/,
    answer: 'A',
    images: 1,
  },
  mapqa: {
    row: { question_text: 'Which states?', map_id: 'map_1.png', answer: ['Ohio', 'Iowa'] },
    wrap: (row) => [row],
    files: ['images/map_1.png'],
    question: 'Which states?',
    answer: '["Ohio","Iowa"]',
    images: 1,
  },
  'infographic-vqa': {
    row: { questionId: '65718', question: 'How many?', answers: ['4', 'four'], image: IMAGE },
    question: 'How many?',
    answer: '["4","four"]',
    images: 1,
  },
  docvqa: {
    row: { questionId: '337', question: 'What date?', answers: ['1/8/93'], image: IMAGE },
    question: 'What date?',
    answer: '1/8/93',
    images: 1,
  },
  'science-qa': {
    row: {
      image: IMAGE,
      question: 'Which is farther north?',
      choices: ['Ohio', 'Iowa'],
      answer: 1,
      hint: 'Look at the map.',
      task: 'closed choice',
      grade: 'grade2',
      subject: 'social science',
      topic: 'geography',
      category: 'Geography',
      skill: 'Read a map',
      lecture: '',
      solution: '',
    },
    question: 'Look at the map.\nWhich is farther north?\n(A) Ohio\n(B) Iowa',
    answer: 'B',
    images: 1,
  },
  vizwiz: {
    row: {
      question_id: 'v0',
      image: IMAGE,
      question: 'What is this?',
      answers: ['soup', 'can', 'soup'],
      category: 'other',
    },
    question: 'What is this?',
    answer: '["soup","can","soup"]',
    images: 1,
    metadata: { answers: ['soup', 'can', 'soup'] },
  },
  clevr: {
    row: {
      image_index: 0,
      split: 'train',
      image_filename: 'CLEVR_train_000000.png',
      question_index: 0,
      question: 'Are there more cubes?',
      question_family_index: 2,
      answer: 'yes',
      program: [],
    },
    wrap: (row) => ({ info: { split: 'train' }, questions: [row] }),
    files: ['images/train/CLEVR_train_000000.png'],
    question: 'Are there more cubes?',
    answer: 'yes',
    images: 1,
  },
  ...morePublished,
  ...benchmarks,
};
