// Runs `saccade parity` as a person does: on checkpoints with published processors, and on the same with
// one weight changed for transformers, where the command has to name the layer.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readSafetensors, writeSafetensors } from '@saccade/nn/files';
import { createLocalPolicy, loadProcessor, readModel } from '@saccade/policy';
import { randomize } from './architectures.mjs';
import { unusual } from './shapes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const saccade = join(here, '../../cli/bin/saccade.js');
const run = promisify(execFile);

const QWEN = { image: '<|image_pad|>', start: '<|vision_start|>', end: '<|vision_end|>' };
const TILES = {
  image: '<image>',
  start: '<fake_token_around_image>',
  end: '<fake_token_around_image>',
};

/** Architecture, whose processor, its markers, and the weights changed with what must be named. */
const CASES = [
  {
    architecture: 'qwen3_vl_moe',
    family: 'qwen3_vl',
    markers: QWEN,
    changes: [['model.language_model.layers.1.mlp.experts.down_proj', /^decoder layer 1 /]],
  },
  {
    architecture: 'idefics3',
    family: 'idefics3',
    markers: TILES,
    config: { vision_config: { image_size: 126, patch_size: 14 }, scale_factor: 3 },
    changes: [['model.vision_model.encoder.layers.1.mlp.fc2.weight', /^vision block 1 /]],
  },
];

function tokenIds(directory, markers) {
  const { added_tokens: added } = JSON.parse(readFileSync(join(directory, 'tokenizer.json')));
  const idOf = (content) => added.find((token) => token.content === content).id;
  return {
    image_token_id: idOf(markers.image),
    vision_start_token_id: idOf(markers.start),
    vision_end_token_id: idOf(markers.end),
    ...(markers === QWEN && { video_token_id: idOf('<|video_pad|>') }),
  };
}

/** A checkpoint of random weights with the processor of a family. */
async function makeCheckpoint(device, root, { architecture, family, markers, config = {} }) {
  const processor = await loadProcessor(join(root, family));
  const { text_config: text, vision_config: vision, ...thin } = unusual[architecture].config;
  const model = readModel({
    ...thin,
    ...config,
    text_config: { ...text, vocab_size: processor.codec?.vocabSize ?? 152_000 },
    vision_config: { ...vision, ...config.vision_config },
    ...tokenIds(join(root, family), markers),
  });
  const policy = createLocalPolicy({ device, model, processor, seed: 1 });
  randomize(policy, 1);
  const directory = join(root, `command-${architecture}`);
  await policy.save(directory);
  policy.dispose();
  return directory;
}

async function changeWeight(directory, name, copy) {
  cpSync(directory, copy, { recursive: true });
  const path = join(copy, 'model.safetensors');
  const arrays = await readSafetensors(path);
  const { shape, dtype, data } = arrays.get(name);
  arrays.set(name, { shape, dtype, data: data.map((value) => value * 1.05) });
  await writeSafetensors(path, arrays);
}

/** What the command says, as JSON, and its exit status. */
async function compare(directory, { python, env }, more) {
  const args = ['parity', '--policy', directory, '--python', python, '--json', ...more];
  const path = [env.PYTHONPATH, join(here, 'site'), here].filter(Boolean).join(':');
  const options = { env: { ...env, PYTHONPATH: path }, maxBuffer: 1 << 26 };
  try {
    const { stdout } = await run(process.execPath, [saccade, ...args], options);
    return { status: 0, ...JSON.parse(stdout) };
  } catch (error) {
    if (error.code !== 1 || !error.stdout) throw error;
    return { status: 1, ...JSON.parse(error.stdout) };
  }
}

/**
 * Prints a line for each comparison through `report(what, difference, gate)`.
 *
 * @param root  the directory with the saved processors of `processors.py`
 * @param only  name of the one architecture to take
 */
export async function checkCommand({ device, python, env, root, only }, report) {
  mkdirSync(join(root, 'changed'));
  for (const one of CASES.filter(({ architecture }) => (only ?? architecture) === architecture)) {
    const directory = await makeCheckpoint(device, root, one);
    const what = `saccade parity, ${one.architecture}`;
    const { status, first, parts } = await compare(directory, { python, env }, ['--greedy', '8']);
    if (first !== undefined) console.log(`      ${what}: ${JSON.stringify(first)}`);
    report(`${what}, ${parts.length} parts equal`, first === undefined ? status : Infinity, 0);
    for (const [i, [name, label]] of one.changes.entries()) {
      const copy = join(root, 'changed', `${one.architecture}-${i}`);
      await changeWeight(directory, name, copy);
      const changed = await compare(directory, { python, env }, [
        ...['--reference', copy],
        ...['--no-gradients', '--greedy', '2'],
      ]);
      const named = changed.first?.what ?? 'nothing';
      const isNamed = changed.status === 1 && label.test(named);
      report(`${what}, ${name} changed, names ${named}`, isNamed ? 0 : Infinity, 0);
    }
  }
}
