/** Conversations of one row: lists of questions and of their answers, of which the last is asked. */
import { DataError } from '@saccade/core';
import type { Fields } from '../table.ts';
import { type ColumnPath, parsePath } from './column-path.ts';
import type { TurnsValue } from './mapping-schema.ts';
import { readCondition, textsAt } from './texts.ts';

/** The last question of a row, as paths name it. */
interface Turns {
  readonly question: string;
  readonly answer: string;
  /** The question, behind the turns before it. */
  readonly text: string;
}

/** Reads conversations. */
export interface TurnsReader {
  readonly lists: readonly ColumnPath[];
  readonly conditions: readonly ColumnPath[];
  /** @throws DataError for lists of other lengths, and for a question or an answer that is empty */
  read(fields: Fields): Turns;
}

/** Reads the conversation of a declaration. */
export function readTurns({ questions, answers, where }: TurnsValue): TurnsReader {
  const [asked, answered] = [parsePath(questions), parsePath(answers)];
  const isConversation = where && readCondition(where);
  return {
    lists: [asked, answered],
    conditions: isConversation === undefined ? [] : [isConversation.path],
    read(fields) {
      const turns = pairs(fields, asked, answered);
      const last = turns.at(-1);
      if (last === undefined) throw new DataError(`${asked.text}: there is no question`);
      const isAlone = turns.length === 1 || isConversation?.holds(fields) === false;
      const before = isAlone ? [] : turns.slice(0, -1);
      const lines = before.flatMap((turn) => [
        `Question: ${turn.question}`,
        `Answer: ${turn.answer}`,
      ]);
      const text = isAlone ? last.question : [...lines, `Question: ${last.question}`].join('\n');
      return { ...last, text };
    },
  };
}

function pairs(fields: Fields, asked: ColumnPath, answered: ColumnPath) {
  const [questions, answers] = [textsAt(fields, asked), textsAt(fields, answered)];
  if (questions.length !== answers.length) {
    throw new DataError(
      `${asked.text} has ${questions.length} questions and ${answered.text} ${answers.length} answers; ` +
        'expected one answer for each question',
    );
  }
  return questions.map((question, i) => {
    const answer = answers[i] ?? '';
    if (question.trim() === '') throw new DataError(`${asked.text}[${i}]: there is no question`);
    if (answer.trim() === '') throw new DataError(`${answered.text}[${i}]: there is no answer`);
    return { question: question.trim(), answer: answer.trim() };
  });
}
