/** The flags with which commands name a judging model behind a chat API. */
import { ConfigError } from '@saccade/core';
import type { GroupJudges } from '@saccade/rewards';
import { judgings } from '@saccade/rewards/judging';
import { secret } from '@saccade/train';

/** Values of the flags that `addJudgeFlags` adds. */
export interface JudgeFlags {
  readonly judge?: string;
  readonly judgeModel?: string;
  readonly judgeKeyVariable?: string;
}

/**
 * Opens the judges that the flags name.
 *
 * @param directory where grades are kept, so that none is asked for twice
 * @returns undefined without `--judge`
 * @throws ConfigError where the flags do not go together
 */
export function openJudges(flags: JudgeFlags, directory: string): GroupJudges | undefined {
  const { judge: baseUrl, judgeModel: model, judgeKeyVariable: keyVariable } = flags;
  if (baseUrl === undefined) {
    const alone = model !== undefined ? 'judge-model' : keyVariable && 'judge-key-variable';
    if (alone === undefined) return undefined;
    throw new ConfigError(alone, `--${alone} needs --judge with the server's address. Give both.`);
  }
  const unit = judgings.get('openai');
  const settings = unit.settings.parse({
    baseUrl,
    judgesErrors: true,
    ...(model !== undefined && { model }),
    ...(keyVariable !== undefined && { keyVariable }),
  });
  return unit.open(settings, { directory, secret });
}
