/** The suite for the statements of geometry problems' texts. */
import { statementScores, statementsIn, withoutMentions } from '../figures/statements.ts';
import { otherTexts, problemTexts } from '../problems/problem-texts.ts';
import { type QualitySuite, unanswerableScores } from '../quality.ts';

/** The software that reads the texts of problems. */
export const grammar = 'an own grammar of English textbooks; no weights';

/** Texts know no lines beside the segments that they name. */
export const ofText = { lines: [], isOriented: false };

export const textCdl: QualitySuite = {
  tool: 'text_cdl',
  backing: grammar,
  async cases() {
    return [
      ...problemTexts.map(({ text, said }) => ({
        ...{ name: text, images: [], given: { question: text } },
        score: ({ stdout }: { readonly stdout: string }) =>
          statementScores(withoutMentions(statementsIn(stdout)), said, ofText, 'statements'),
      })),
      ...otherTexts.map((text) => ({
        ...{ name: text, images: [], given: { question: text }, score: unanswerableScores },
      })),
    ];
  },
};
