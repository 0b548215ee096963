#!/usr/bin/env node
import { spawn } from 'node:child_process';
/**
 * Streams a mixture of many rows: rows per second, memory, and whether a killed process goes on at its row.
 *
 *   node packages/datasets/bin/stream.js [--rows 1000000] [--folder F] [--kill | --damage]
 *
 * Writes synthetic rows of text in two formats (JSON Lines and Parquet, half each) unless the folder has
 * them, and reads all of them as tasks of a mixture, shuffled. With --kill it starts itself, kills that
 * process with SIGKILL in the middle, starts it again, and compares the ids of both parts with those of a
 * run that nobody killed. With --damage one line in the middle is cut short: it is named, the row after it takes
 * its place, and every other row comes once.
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { mixture } from '@saccade/datasets';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    folder: { type: 'string', default: join(tmpdir(), 'saccade-stream') },
    kill: { type: 'boolean', default: false },
    damage: { type: 'boolean', default: false },
    /** Part of a run that may be killed: writes ids to this file, and goes on where it ends. */
    log: { type: 'string' },
  },
});
const rows = Number(values.rows);
const half = Math.floor(rows / 2);
const folder = join(values.folder, values.damage ? `${rows}-damaged` : String(rows));
const damagedRow = values.damage ? Math.floor(half / 2) : -1;

const question = (i) =>
  `What is the sum of ${i} and ${(i * 7919) % 1000}? Round to the nearest ten.`;
const answer = (i) => String(Math.round((i + ((i * 7919) % 1000)) / 10) * 10);

async function writeLines(path) {
  const text = async function* () {
    for (let i = 0; i < half; i += 1000) {
      let part = '';
      for (let j = i; j < Math.min(half, i + 1000); j++) {
        const line = JSON.stringify({ question: question(j), answer: answer(j), metadata: { j } });
        part += `${j === damagedRow ? line.slice(0, 30) : line}\n`;
      }
      yield part;
    }
  };
  await pipeline(text(), createWriteStream(path));
}

async function writeParquet(path) {
  const text = (name) => ({
    name,
    type: 'BYTE_ARRAY',
    converted_type: 'UTF8',
    repetition_type: 'OPTIONAL',
  });
  const schema = [
    { name: 'root', num_children: 3 },
    text('question'),
    text('answer'),
    text('metadata'),
  ];
  const writer = new ParquetWriter({ writer: fileWriter(path), schema });
  for (let i = half; i < rows; i += 1000) {
    const numbers = Array.from({ length: Math.min(1000, rows - i) }, (_, k) => i + k);
    const columnData = [
      { name: 'question', data: numbers.map(question) },
      { name: 'answer', data: numbers.map(answer) },
      { name: 'metadata', data: numbers.map((j) => JSON.stringify({ j })) },
    ];
    await writer.write({ columnData, rowGroupSize: 1000 });
  }
  await writer.finish();
}

async function prepare() {
  if (existsSync(join(folder, 'done'))) return;
  rmSync(folder, { recursive: true, force: true });
  for (const name of ['lines', 'parquet']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(
    join(folder, 'text.yaml'),
    'question: question\nanswer: answer\nmetadataFrom: metadata\n',
  );
  await writeLines(join(folder, 'lines', 'rows.jsonl'));
  await writeParquet(join(folder, 'parquet', 'rows.parquet'));
  writeFileSync(join(folder, 'done'), '');
}

async function open(onEvent) {
  const mapping = join(folder, 'text.yaml');
  const unit = mixture.with({
    sources: [
      { from: join(folder, 'lines'), source: 'lines', mapping, heldOutShare: 0 },
      { from: join(folder, 'parquet'), source: 'parquet', mapping, heldOutShare: 0 },
    ],
    epochs: 1,
    seed: 1,
  });
  return await unit.open({ ...(onEvent && { onEvent }) });
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

/** Reads tasks from an index on; gives the hash of their ids in order. */
async function read(taskSet, start, each) {
  const hash = createHash('sha256');
  const size = taskSet.size('train');
  const started = performance.now();
  const memory = [];
  for (let index = start; index < size; index++) {
    const { id, question: asked } = await taskSet.task('train', index);
    each?.(id, index);
    hash.update(`${id}\0${asked}\n`);
    if ((index + 1) % Math.ceil(size / 10) === 0) {
      globalThis.gc?.();
      const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
      memory.push({ row: index + 1, rss, used: heapUsed + arrayBuffers });
    }
  }
  const seconds = (performance.now() - started) / 1000;
  return { hash: hash.digest('hex'), memory, perSecond: (size - start) / seconds, seconds };
}

async function measure() {
  const started = performance.now();
  const taskSet = await open();
  console.log(
    `opened ${taskSet.size('train')} rows in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  const { memory, perSecond, seconds } = await read(taskSet, 0);
  console.log(`${perSecond.toFixed(0)} rows per second, ${seconds.toFixed(1)} s`);
  console.log('row, resident MB, in use MB');
  for (const { row, rss, used } of memory)
    console.log(`${row}, ${megabytes(rss)}, ${megabytes(used)}`);
  await taskSet.dispose();
}

/** Reads on from where the log ends; every id is in the log before the next is read. */
async function readLogged(path) {
  const done = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [''];
  // A line without an end was being written when the process died.
  const whole = done.slice(0, -1);
  writeFileSync(path, whole.map((id) => `${id}\n`).join(''));
  const taskSet = await open();
  await read(taskSet, whole.length, (id) => appendFileSync(path, `${id}\n`));
  await taskSet.dispose();
}

const child = (log) =>
  spawn(
    process.execPath,
    [import.meta.filename, '--rows', values.rows, '--folder', values.folder, '--log', log],
    {
      stdio: 'inherit',
    },
  );
const ended = (started) =>
  new Promise((resolve) => started.on('exit', (code, signal) => resolve(signal ?? code)));

async function killAndResume() {
  const [whole, killed] = ['whole', 'killed'].map((name) => join(folder, `${name}.log`));
  for (const path of [whole, killed]) rmSync(path, { force: true });
  await ended(child(whole));
  const first = child(killed);
  const enough = 0.4 * readFileSync(whole).length;
  while (!existsSync(killed) || readFileSync(killed).length < enough) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  first.kill('SIGKILL');
  const signal = await ended(first);
  const lines = readFileSync(killed, 'utf8').split('\n').length - 1;
  const status = await ended(child(killed));
  const isSame = readFileSync(whole).equals(readFileSync(killed));
  console.log(`killed by ${signal} after ${lines} of ${rows} rows, resumed with status ${status}`);
  console.log(
    isSame ? 'the ids of all rows are those of the whole run, in order' : 'THE IDS DIFFER',
  );
  if (!isSame) process.exitCode = 1;
}

async function readDamaged() {
  const said = [];
  const taskSet = await open((event) => said.push(event.message ?? JSON.stringify(event)));
  const seen = new Uint8Array(rows);
  let wrong = 0;
  for (let index = 0; index < taskSet.size('train'); index++) {
    const task = await taskSet.task('train', index);
    const { j } = task.metadata;
    seen[j]++;
    if (task.question !== question(j) || task.answer !== answer(j)) wrong++;
  }
  await taskSet.dispose();
  const once = seen.reduce((sum, times) => sum + (times === 1 ? 1 : 0), 0);
  for (const message of said) console.log(message);
  console.log(`row ${damagedRow} of ${rows} is damaged: it came ${seen[damagedRow]} times`);
  console.log(
    `the row after it came ${seen[damagedRow + 1]} times, ${once} rows once, ${wrong} wrong`,
  );
  const isWhole =
    seen[damagedRow] === 0 && seen[damagedRow + 1] === 2 && once === rows - 2 && wrong === 0;
  if (!isWhole || said.length !== 1) process.exitCode = 1;
}

await prepare();
if (values.log !== undefined) await readLogged(values.log);
else if (values.kill) await killAndResume();
else if (values.damage) await readDamaged();
else await measure();
