/** A reward that needs a judge, trained with: the real loop, and a real server that judges. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMetrics } from '@saccade/run-store';
import { ensurePython } from '@saccade/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputOf } from './recipe.ts';
import { recipes } from './registry.ts';
import { resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { train } from './trainer.ts';

const pythonDirectory = join(import.meta.dirname, '../../../.cache/sandbox-venv');

interface Asked {
  readonly text: string;
  readonly image: string;
}

interface Body {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly {
      readonly type: string;
      readonly text?: string;
      readonly image_url?: { readonly url: string };
    }[];
  }[];
}

/** The grade of an image; of some it makes out nothing and never says one. */
function gradeOf(image: string): number | undefined {
  const [byte = 0] = createHash('sha256').update(image).digest();
  return [1, 0.5, 0.25, undefined][byte % 4];
}

describe('a reward that needs a judge', () => {
  const directory = mkdtempSync(join(tmpdir(), 'saccade-judge-'));
  const asked: Asked[] = [];
  let server: Server;
  let baseUrl = '';

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as Body;
      const parts = messages.flatMap(({ content }) => content);
      const text = parts.map((part) => part.text ?? '').join('\n');
      const image = parts.map((part) => part.image_url?.url ?? '').join('');
      asked.push({ text, image });
      const grade = gradeOf(image);
      const [, boundary] = /GRADE (\w+) <grade>/.exec(text) ?? [];
      const content = grade === undefined ? 'Hard to tell.' : `Well.\nGRADE ${boundary} ${grade}`;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true });
  });

  it('is trained with for three steps; what the judge failed on has none, and is counted', async () => {
    const settings = [
      'reward=codev',
      `judge.baseUrl=${baseUrl}`,
      'judge.model=test',
      'judge.retries=0',
      // Long enough for looks that run: without images there is nothing to judge.
      'sft.updates=56',
      'coldStart.answerWithoutLooking=0.1',
      'rl.steps=3',
      'scheduler=synchronous',
      'scheduler.promptsPerStep=4',
      'evaluation.count=2',
      'evaluation.keepTrajectories=0',
    ];
    const input = applySettings(inputOf(recipes.get('smoke')), settings.map(parseSetting));
    const python = async () => (await ensurePython(pythonDirectory)).python;
    const { isFinished } = await train({
      run: resolveRun(input),
      directory,
      python,
      onEvent: () => {},
    });
    expect(isFinished).toBe(true);

    const rows = readMetrics(directory).value.rows.filter(({ stage }) => stage === 'rl');
    expect(rows).toHaveLength(3);
    let failed = 0;
    for (const row of rows) {
      const count = (row['failed/reward'] ?? 0) as number;
      failed += count;
      expect(row['failed/ratio']).toBeCloseTo(count / 32);
      expect(row.trained_trajectories).toBe(32 - count);
    }
    const steps = [1, 2, 3].map((step) =>
      readFileSync(join(directory, 'trajectories', `step-00000${step}.jsonl`), 'utf8'),
    );
    const kept = steps.flatMap((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Kept),
    );
    expect(kept, 'the first group of every step').toHaveLength(24);

    // Every image that code brought went to the judge, with the question, and nothing else did.
    const images = [...new Set(asked.map(({ image }) => image))];
    expect(images.length, 'images judged').toBeGreaterThan(2);
    expect(failed, 'trajectories the judge failed on').toBeGreaterThan(0);
    for (const { text, image } of asked) {
      expect(text).toContain('Which digit is hidden in the picture?');
      expect(text).not.toMatch(/image_clue|crop\(|boxed/);
      expect(image).toMatch(/^data:image\/png;base64,/);
    }
    const evidence = kept.map(({ rewardTerms }) => rewardTerms.evidence ?? Number.NaN);
    expect(evidence.some((value) => value > 0)).toBe(true);
    expect(evidence.every((value) => value >= -0.25 && value <= 0.5)).toBe(true);

    const grades = readFileSync(join(directory, 'grades.jsonl'), 'utf8').trim().split('\n');
    const readable = images.filter((image) => gradeOf(image) !== undefined);
    expect(grades).toHaveLength(readable.length);
  }, 240_000);
});

interface Kept {
  readonly rewardTerms: Readonly<Record<string, number>>;
}
