/** ChartQAPro: charts, infographics and dashboards, with lists, conversations and statements. */
import { defineMapping } from '../mapping/define-mapping.ts';

const conversations = { value: 'Question Type', is: ['Conversational'] };

export const chartqapro = defineMapping({
  name: 'chartqapro',
  description: 'ChartQAPro: charts and dashboards, with lists, conversations and statements.',
  sources: ['ahmed-masry/ChartQAPro', 'lmms-lab/ChartQAPro'],
  schemaFrom: 'public code of vis-nlp/ChartQAPro and its task in lmms-eval',
  isVerified: true,
  declaration: {
    question:
      '{Paragraph}\n\n{turns.text}\n\nAnswer with a word, a number, a phrase, or the letter of a choice; a ' +
      'statement with True or False; several answers as a list, [first, second]; without units of ' +
      'measurement; and with Unanswerable if the chart does not tell.',
    images: 'image',
    turns: { questions: 'Question', answers: 'Answer', where: conversations },
    answer: {
      value: 'turns.answer',
      exact: {
        // A flag says that an element is a year, of which 5 % would be a century.
        flags: 'Year',
        lastFlag: conversations,
        rows: { value: 'Question Type', is: ['Fact Checking', 'Multi Choice'] },
      },
    },
    metadata: { kind: 'Question Type' },
  },
});
