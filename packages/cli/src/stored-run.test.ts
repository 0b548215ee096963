/** Uses of a finished run's stored trajectories: audits, and other rewards. */
import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, DataError } from '@saccade/core';
import {
  auditRun,
  missingFacts,
  readFaithfulness,
  readStoredRun,
  rescore,
  writeAudit,
} from '@saccade/report';
import { changeTerms, numeric, presets, presetTerms } from '@saccade/rewards';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditWithReward, describeAudit, readThresholds } from './audit.ts';
import { describeFaithfulness } from './faithfulness.ts';
import { describeRescored, parseChange } from './rescore.ts';
import { type StoredPlay, writeStoredRun } from './stored-run.fixture.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'saccade-stored-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

const crop = 'image_clue_0.crop((10, 10, 70, 70)).show()';
const show = 'image_clue_0.show()';
const right: StoredPlay = { codes: [crop], answer: '7' };
const wrong: StoredPlay = { codes: [], answer: '3' };
const spam: StoredPlay = { codes: [crop, show, show], answer: '7' };
const plays = (step: number): readonly StoredPlay[] => [right, wrong, step > 2 ? spam : right];

describe('the audit of a run', () => {
  it('flags what its trajectories do, and compares terms with accuracy in three ways', async () => {
    await writeStoredRun(directory, { steps: 4, plays });
    const audited = await auditRun(directory);
    const { report, overSteps, overEvaluations, gaps } = audited;
    expect([report.trajectoryCount, report.groupCount]).toEqual([12, 4]);
    const spammed = report.findings.find(({ detector }) => detector === 'tool-spam');
    expect(spammed?.flagged).toEqual(['train/3/task-3/2', 'train/4/task-4/2']);
    expect(spammed?.isAlarm).toBe(true);
    expect(report.correlations.accuracy).toBeCloseTo(1, 12);
    // Accuracy is 2/3 in every step of training: nothing to compare with.
    expect(overSteps).toEqual({});
    // The bonus grows while held-out accuracy falls: numpy.corrcoef of [2, 2, 4, 4], [4, 3, 2, 1].
    expect(overEvaluations['accumulative-tool']?.correlation).toBeCloseTo(-0.894427191, 9);
    expect(Object.keys(overEvaluations)).toEqual(['accumulative-tool']);
    expect(gaps).toEqual([]);
    const text = describeAudit(audited).join('\n');
    expect(text).toMatch(/tool-spam +2 +16\.7 % +ALARM +25\.0 % → 100\.0 %, at most 100\.0 %/);
    expect(text).toMatch(/accumulative-tool +\+0\.\d\d +– +−0\.89 \(4\)/);
  });

  it('takes other thresholds, and other files', async () => {
    await writeStoredRun(directory, { steps: 4, plays });
    const thresholds = readThresholds(['tool-spam.leastCalls=4', 'tool-spam.idleShare=0.6']);
    const { report } = await auditRun(directory, { only: ['step-000004'], thresholds });
    expect(report.trajectoryCount).toBe(3);
    expect(report.findings.every(({ isAlarm }) => !isAlarm)).toBe(true);
    await expect(auditRun(directory, { only: ['step-9'] })).rejects.toThrow(/Known: step-000001/);
    expect(() => readThresholds(['tool-spam=3'])).toThrow(ConfigError);
    await expect(auditRun(directory, { thresholds: { spam: {} } })).rejects.toThrow(/tool-spam/);
  });

  it('writes a page in which no text of the model becomes markup', async () => {
    const codes = [`print("<script>alert(1)</script>")\n${crop}`, show, show];
    await writeStoredRun(directory, { steps: 2, plays: () => [{ codes, answer: '7' }, wrong] });
    const page = await readFile(await writeAudit(await auditRun(directory)), 'utf8');
    expect(page).toContain('&lt;script&gt;alert(1)');
    expect(page).not.toMatch(/<script|(?:src|href)=| style="/);
    expect(page).toContain('<svg');
  });

  it('continues where a last line is cut short or there is no configuration, and says so', async () => {
    await writeStoredRun(directory, { steps: 2, plays, keepsMetadata: false });
    await appendFile(join(directory, 'trajectories/step-000002.jsonl'), '{"id":"cut sh');
    await rm(join(directory, 'config.json'));
    await rm(join(directory, 'metrics.jsonl'));
    const { report, gaps } = await auditWithReward(directory);
    expect(report.trajectoryCount).toBe(6);
    expect(gaps.join(' ')).toMatch(
      /row \d+ is cut short.*metrics\.jsonl: it has 0 bytes.*no rows.*config\.json is missing/,
    );
  });

  it('refuses what is no run, or keeps nothing', async () => {
    await expect(auditRun(join(directory, 'none'))).rejects.toThrow(/no run directory/);
    await mkdir(join(directory, 'empty'));
    await expect(auditRun(join(directory, 'empty'))).rejects.toThrow(DataError);
    await expect(auditRun(join(directory, 'empty'))).rejects.toThrow(/keepTrajectoriesEverySteps/);
  });
});

describe('other rewards for a stored run', () => {
  it('gives what it had for the same reward', async () => {
    await writeStoredRun(directory, { steps: 3, plays });
    const stored = await readStoredRun(directory);
    const { trajectories, overall, failed } = rescore(stored, { terms: presetTerms('pyvision') });
    for (const { oldReward, newReward, oldTerms, newTerms } of trajectories) {
      expect(newReward).toBe(oldReward);
      expect(newTerms).toEqual(oldTerms);
    }
    expect(overall).toMatchObject({ count: 9, orderAgreement: 1, oldUniform: 0, newUniform: 0 });
    expect(overall.correlation).toBeCloseTo(1, 12);
    expect(failed).toEqual([]);
  });

  it('gives the reward of another preset, worked out by hand', async () => {
    const metadata = { requiredTools: ['crop'], box: [10, 10, 70, 70] };
    await writeStoredRun(directory, { steps: 3, plays, metadata });
    const stored = await readStoredRun(directory);
    const { trajectories } = rescore(stored, { terms: presetTerms('codevision') });
    // 1 + 0.1 format + 1 must-use + 0.1 exact order; the wrong one has its format alone. The format
    // wants one thought in front and one answer at the end, which all have.
    const [first, second] = trajectories;
    expect(first?.newReward).toBeCloseTo(2.2, 12);
    expect(second?.newReward).toBeCloseTo(0.1, 12);
    // Three calls where one tool is required: −0.5.
    expect(trajectories.at(-1)?.newTerms['turn-limit-penalty']).toBe(-0.5);
    expect(missingFacts('codevision', stored)).toEqual(['toCanonical']);
  });

  it('changes weights and constants, and tells what differs within groups', async () => {
    await writeStoredRun(directory, { steps: 4, plays });
    const stored = await readStoredRun(directory);
    const changes = ['accumulative-tool=-0.1'].map(parseChange);
    const terms = changeTerms(presetTerms('pyvision'), changes);
    const rescored = rescore(stored, { terms });
    // Steps 3 and 4: 1.1, 0, 1.3 become 0.9, 0, 0.7; one of three pairs turns around.
    expect(rescored.files.map(({ orderAgreement }) => orderAgreement)).toEqual([
      1,
      1,
      2 / 3,
      2 / 3,
    ]);
    expect(rescored.overall.newMean).toBeCloseTo((2 * 1.8 + 2 * 1.6) / 12, 12);
    expect(describeRescored(rescored).join('\n')).toMatch(/step-000003 +3 .* 67 % +0 → 0 of 1/);
    const flat = changeTerms(presetTerms('pyvision'), [
      { term: 'accuracy', value: 0 },
      { term: 'accumulative-tool', value: 0 },
    ]);
    const { overall } = rescore(stored, { terms: flat });
    expect(overall.newUniform).toBe(4);
    expect(overall).not.toHaveProperty('correlation');
    const linear = changeTerms(
      presetTerms('codevision'),
      ['turn-limit-penalty.isLinear=true', 'turn-limit-penalty.spareTurns=0'].map(parseChange),
    );
    expect(linear.find(({ reward }) => reward.name === 'turn-limit-penalty')?.reward).toMatchObject(
      {
        range: [Number.NEGATIVE_INFINITY, 0],
        constants: {
          isLinear: { value: true, from: 'ours' },
          leastTurns: { value: 0, from: 'paper' },
        },
      },
    );
  });

  it('judges again only where it is asked to', async () => {
    const written = () => [{ codes: [], answer: '7.0' }, wrong];
    await writeStoredRun(directory, { steps: 2, plays: written });
    const stored = await readStoredRun(directory);
    const terms = presetTerms('pyvision');
    expect(rescore(stored, { terms }).overall.newMean).toBe(0);
    const again = rescore(stored, { terms, verifier: numeric });
    expect(again.overall.newMean).toBe(0.5);
    expect(describeRescored(again).join('\n')).toContain('2 verdicts are other than stored');
  });

  it('takes every preset that needs no judge, and refuses the others by name', async () => {
    await writeStoredRun(directory, { steps: 1, plays });
    const stored = await readStoredRun(directory);
    const refused: string[] = [];
    const names = presets.names.map((one) => (one.includes('/') ? one : `${one}/paper`));
    for (const name of names) {
      try {
        expect(rescore(stored, { terms: presetTerms(name) }).failed).toEqual([]);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        refused.push(name);
      }
    }
    expect(refused).toContain('codev/paper');
    expect(refused.length).toBeLessThan(6);
  });

  it('refuses changes that cannot be made', () => {
    const change = (text: string) => changeTerms(presetTerms('codedance'), [parseChange(text)]);
    expect(() => change('accuracy')).toThrow(/expected term=weight/);
    expect(() => change('nothing=1')).toThrow(/Known: accuracy/);
    expect(() => change('accuracy=much')).toThrow(/expected a finite number/);
    expect(() => change('accuracy.share=1')).toThrow(/has no constant "share"/);
    expect(() => change('balanced-tool-call.gamma=true')).toThrow(/expected a number in/);
    expect(() => change('balanced-tool-call.flip=0.5')).toThrow(/follows from the other constants/);
  });
});

describe('the faithfulness of a run', () => {
  it('is told by three denominators and by tool calls, with what could not be judged', async () => {
    const stray: StoredPlay = { codes: ['image_clue_0.crop((0, 0, 9, 9)).show()'], answer: '7' };
    const all = [right, stray, wrong, { codes: [], answer: '7' }];
    await writeStoredRun(directory, { steps: 1, plays: () => all, keepsMetadata: false });
    const found = await readFaithfulness(directory, { cropIou: 0.5, only: ['step-000001'] });
    const lines = describeFaithfulness(found);
    // Right with evidence 1 of 4 and of 3 right; Wilson's interval of 1 of 4 by statsmodels.
    const row =
      /^step-000001 +4 +75\.0 % +25\.0 % +4\.6 % to 69\.9 % +33\.3 % +25\.0 % +25\.0 % +50\.0 %$/;
    expect(lines.find((line) => row.test(line))).toBeDefined();
    expect(lines.find((line) => line.includes('50 %, 50 %'))).toMatch(/50 %, 100 % +–/);
    await writeStoredRun(directory, { steps: 1, plays: () => all });
    const none = await readFaithfulness(directory, { cropIou: 0.5 });
    expect(describeFaithfulness(none).join('\n')).toMatch(
      /4 trajectories are of tasks without a known box/,
    );
  });
});
