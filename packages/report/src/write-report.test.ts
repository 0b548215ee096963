import { appendFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeSyntheticRun } from './synthetic-run.ts';
import { writeReport } from './write-report.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'saccade-report-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

const whole = { tasks: 16, sftUpdates: 30, rlSteps: 24, isFinished: true };

describe('writeReport', () => {
  it('shows accuracy before and after with interval, and twelve tasks of every outcome', async () => {
    await writeSyntheticRun(directory, whole);
    const page = await readReport();
    expect(page).toContain('pyvision-image-nano, seed 1');
    // 116 and 185 of 200: the roots of (p − p̂)² = z²·p·(1 − p)/n, from numpy.roots.
    expect(page).toContain('116 of 200 right [51.1, 64.6]');
    expect(page).toContain('185 of 200 right [88.0, 95.4]');
    expect(page).toContain('+34.5 points');
    expect(page.match(/<details class="task"/g)).toHaveLength(12);
    // Kept and shown, by outcome: each is among the twelve.
    const table = /<table class="outcomes">.*?<\/table>/s.exec(page)?.[0] ?? '';
    const rows = [...table.matchAll(/<td class="n">(\d+)<\/td><td class="n">(\d+)<\/td>/g)];
    expect(rows.map(([, kept, shown]) => [kept, shown])).toEqual([
      ['9', '8'],
      ['1', '1'],
      ['1', '1'],
      ['5', '2'],
    ]);
    expect(page).not.toContain('Not everything is here');
  });

  it('draws the crop of a look at its place on the original, and the truth beside it', async () => {
    await writeSyntheticRun(directory, { ...whole, tasks: 4 });
    const page = await readReport();
    const tags = JSON.parse(
      (await readFile(join(directory, 'trajectories/evaluation-final.jsonl'), 'utf8')).split(
        '\n',
      )[3] ?? '',
    ).tags as { box: string };
    const [left = 0, top = 0] = tags.box.split(',').map(Number);
    expect(page).toContain(
      `<rect class="box crop" x="${left}" y="${top}" width="28" height="28"/>`,
    );
    const around = 448 * 0.012;
    expect(page).toContain(`<rect class="box truth" x="${left - around}" y="${top - around}"`);
  });

  it('lets no text of the model become markup and loads nothing from outside', async () => {
    const thought = '</pre><script>alert(1)</script><img src=x onerror="alert(2)">';
    await writeSyntheticRun(directory, { ...whole, tasks: 4, thought });
    const page = await readReport();
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toMatch(/<script|<img src=x/);
    expect(page).not.toMatch(/(?:src|href)="(?!data:image\/|#)/);
    expect(page).not.toMatch(/ style="/);
    expect(page).toContain(
      'content="default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-',
    );
  });

  it('comes out before the final evaluation and says what is missing', async () => {
    await writeSyntheticRun(directory, { ...whole, tasks: 2, isFinished: false });
    const page = await readReport();
    expect(page).toContain('evaluation-final.jsonl is not there');
    expect(page).toContain('RL step 20 so far');
    expect(page.match(/not evaluated/g)).toHaveLength(2);
  });

  it('comes out of an empty directory', async () => {
    const page = await readReport();
    expect(page).toContain('config.json: it is missing');
    expect(page).toContain('No evaluation on held-out tasks has been done yet');
    expect(page.match(/No values were recorded/g)).toHaveLength(6);
  });

  it('shows what comes before a damaged line, and tasks whose images are gone', async () => {
    await writeSyntheticRun(directory, { ...whole, tasks: 2 });
    await appendFile(join(directory, 'trajectories/evaluation-final.jsonl'), '{"id":"cut sh');
    const images = join(directory, 'trajectories/images');
    for (const file of await readdir(images)) await rm(join(images, file));
    const page = await readReport();
    expect(page).toContain('evaluation-final.jsonl: row 3 is cut short and was left out');
    expect(page).toContain('The file of the image is missing');
    expect(page.match(/<details class="task"/g)).toHaveLength(2);
  });

  it('is equal when it is made again', async () => {
    await writeSyntheticRun(directory, { ...whole, tasks: 2 });
    expect(await readReport()).toBe(await readReport());
    expect(await readdir(directory)).not.toContain('report.html.part');
  });

  it('refuses a directory that does not exist', async () => {
    await mkdir(join(directory, 'runs'));
    await expect(writeReport(join(directory, 'runs/none'))).rejects.toThrow(/no run directory/);
  });
});

/** The page with its images' data cut out, so that a failure can be read. */
async function readReport(): Promise<string> {
  const page = await readFile(await writeReport(directory), 'utf8');
  return page.replaceAll(/;base64,[^"]+/g, ';base64,…');
}
