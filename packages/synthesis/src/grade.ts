/** A grade of a model for something that nobody vouches for. */
import type { ChatMessage, ChatModel } from '@saccade/chat';
import { gradeIn } from '@saccade/rewards';

/** A question to a judge; the boundary fences what is not to be trusted. */
export type Asked = (boundary: string) => readonly ChatMessage[];

/** How a grade is asked for. */
export interface GradeOptions {
  readonly grades: readonly number[];
  readonly maxTokens: number;
  readonly signal?: AbortSignal;
}

/** The grade that a model gives, or undefined if its reply has none. @throws ChatError */
export async function gradeOf(
  model: ChatModel,
  ask: Asked,
  { grades, maxTokens, signal }: GradeOptions,
): Promise<number | undefined> {
  // The same each time, so that a cache of replies finds it again; the text is fenced and escaped.
  const boundary = 'kqzvxwjy';
  const reply = await model.reply(ask(boundary), {
    ...{ temperature: 0, maxTokens },
    ...(signal && { signal }),
  });
  return gradeIn(reply, boundary, grades);
}
