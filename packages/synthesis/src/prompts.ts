/**
 * The questions to judges and writers: what CodeDance's Tables 5 to 9 (arXiv:2512.17312), VISTA's
 * densification (arXiv:2511.19773, §5.1) and CodeV's cleaning (arXiv:2511.19661) ask, in our words.
 */
import type { ChatMessage, ChatPart } from '@saccade/chat';
import type { Task } from '@saccade/gym';
import { fenced, replyRule } from '@saccade/rewards';
import type { Trajectory } from '@saccade/trajectory';
import type { Asked } from './grade.ts';

/** Images of a trajectory that a judge is shown. */
const SHOWN_IMAGES = 6;

const text = (said: string): ChatPart => ({ kind: 'text', text: said });
const image = (png: Uint8Array): ChatPart => ({ kind: 'image', png });

function asked(
  instruction: string,
  grades: readonly number[],
  parts: (boundary: string) => readonly ChatPart[],
): Asked {
  return (boundary): readonly ChatMessage[] => [
    { role: 'system', parts: [text(`${instruction}\n\n${replyRule(boundary, grades)}`)] },
    { role: 'user', parts: parts(boundary) },
  ];
}

/** Grades of `informativenessPrompt`, from D to A. */
export const informativenessGrades: readonly number[] = [0, 1, 2, 3];

/** Whether an image holds enough to look for (Table 5). */
export function informativenessPrompt(task: Task): Asked {
  return asked(
    'You choose images for questions that need a close look. The grade is 3 if the image shows things ' +
      'of four kinds or more, or six things or more, of which some are small; 2 if it shows a few things ' +
      'and some are small; 1 if everything in it is large; 0 if it is empty, broken or all one texture.',
    informativenessGrades,
    () => task.images.map(({ png }) => image(png)),
  );
}

/** Whether a question and its answer go well with the image: GOOD is 1, BAD is 0 (Table 7). */
export function questionPrompt(task: Task): Asked {
  return asked(
    'You check questions about images. The grade is 1 if the question can be answered from the image ' +
      'alone, has one answer, and the REFERENCE is that answer as far as you can see; 0 if it is about ' +
      'something else, has several answers, gives its answer away, or the REFERENCE is wrong.',
    [0, 1],
    (boundary) => [
      ...task.images.map(({ png }) => image(png)),
      fenced('QUESTION', task.question, boundary),
      fenced('REFERENCE', task.answer, boundary),
    ],
  );
}

/** Whether a question needs knowledge that is not in the image: 1 if it does. */
export function outsideKnowledgePrompt(task: Task): Asked {
  return asked(
    'You sort questions about images. The grade is 1 if answering takes knowledge that neither the ' +
      'image nor common sense gives, such as names, dates or facts of the world; 0 if it takes looking, ' +
      'counting, reading, measuring or computing alone.',
    [0, 1],
    (boundary) => [
      ...task.images.map(({ png }) => image(png)),
      fenced('QUESTION', task.question, boundary),
    ],
  );
}

/** Whether a trajectory is sound: right steps that show what the answer says, or not. */
export function validationPrompt(task: Task, trajectory: Trajectory): Asked {
  return asked(
    'You validate examples of an agent that looks at images with tools before it answers. The grade is ' +
      '1 if its steps run, show what the QUESTION is about, and lead to its answer, which says the same as ' +
      'the REFERENCE; 0.5 if the answer is right but a step is idle; 0 if the answer does not follow from ' +
      'what was seen, a thought contradicts a step, or the answer is wrong.',
    [0, 0.5, 1],
    (boundary) => [
      fenced('QUESTION', task.question, boundary),
      fenced('REFERENCE', task.answer, boundary),
      ...trajectory.segments.flatMap(({ kind, text: said, images }, index) => {
        if (index === 0) return images.map(({ png }) => image(png));
        const shown = images.slice(0, SHOWN_IMAGES).map(({ png }) => image(png));
        return [fenced(kind === 'model' ? 'TURN' : 'OBSERVATION', said, boundary), ...shown];
      }),
    ],
  );
}

/** Asks for a longer thought before an action that stays as it is (VISTA §5.1). */
export function densifyPrompt(
  task: Task,
  before: readonly ChatPart[],
  thought: string,
  action: string,
): readonly ChatMessage[] {
  const instruction =
    'You write the thoughts of an agent that answers questions about images with tools. You are shown ' +
    'the question, what the agent has seen so far, a short thought of it, and the action that follows. ' +
    'Write the thought again, fuller: what is seen, what is still unknown, why this action is next. Say ' +
    'nothing that is only seen later, keep the action out of it, and write no tags. Reply with the thought ' +
    'alone, in two to six sentences.';
  return [
    { role: 'system', parts: [text(instruction)] },
    {
      role: 'user',
      parts: [
        text(`QUESTION\n${task.question}`),
        ...before,
        text(`SHORT THOUGHT\n${thought === '' ? '(none)' : thought}\n\nACTION\n${action}`),
      ],
    },
  ];
}

/** Instructions that a teacher is given for each stratum of CodeDance (Tables 8 and 9). */
export const stratumInstructions: Readonly<Record<'direct' | 'atomic' | 'hard', string>> = {
  direct: 'This question is easy: answer it at once, without code.',
  atomic:
    'One operation is enough: do it in one piece of code, look at what it shows, then answer.',
  hard:
    'Go step by step, one operation a turn: look, transform or compute, read what comes back, and go on ' +
    'until the answer is certain. Compute numbers with code instead of in your head.',
};
