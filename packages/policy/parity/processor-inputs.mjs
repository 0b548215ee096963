// What the comparison of processors encodes: images of odd sizes, videos, conversations.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomAt } from '@saccade/core';
import sharp from 'sharp';

/** Width and height; the last has sides too different for Qwen. With `--every`, or in a sweep. */
const EVERY_SIZE = [
  [1, 1],
  [2, 3],
  [5, 7],
  [13, 1],
  [1, 14],
  [27, 27],
  [28, 28],
  [29, 31],
  [31, 64],
  [55, 57],
  [56, 100],
  [100, 1],
  [200, 1],
  [1, 200],
  [3, 590],
  [2800, 14],
  [320, 240],
  [333, 777],
  [448, 448],
  [449, 449],
  [512, 511],
  [639, 481],
  [896, 448],
  [800, 800],
  [1344, 896],
  [720, 1280],
  [1600, 300],
  [1500, 1100],
  [1900, 1300],
  [201, 1],
];
/**
 * Those that are always compared: a pixel, odd and even sides, on both sides of a patch and of a pair
 * of patches, strips to the largest ratio, one that is cut into tiles, one that is too large and has
 * to shrink; every format in two of them.
 */
const FEW = [0, 2, 4, 7, 8, 9, 10, 13, 15, 17, 20, 28, 29];
/**
 * Places among the few of those that families compare that enlarge every image: SmolVLM to sides of 1536,
 * in seconds.
 */
const FEWER = { smolvlm: [0, 3, 8, 9, 11] };
/** Places in the list of images of those that conversations show. */
const SMALL = { every: [2, 7, 9, 10, 16], few: [1, 3, 5, 6, 9] };

/** Formats by turns: what they decode to must be the same on both sides. */
const FORMATS = [
  (image) => image.png(),
  (image) => image.jpeg({ quality: 90 }),
  (image) => image.png({ palette: true }),
  (image) => image.jpeg({ quality: 75, chromaSubsampling: '4:4:4', progressive: true }),
  (image) => image.grayscale().png(),
  (image) => image.grayscale().jpeg(),
];

function pixelsOf(width, height, seed) {
  const random = randomAt(seed, 'processor parity');
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const noise = random.integer(60);
      pixels[to++] = Math.min(255, ((x * 255) / width + noise) | 0);
      pixels[to++] = Math.min(255, ((y * 255) / height + (((x >> 3) ^ (y >> 3)) & 1) * 90) | 0);
      pixels[to++] = (x * y + noise) & 255;
    }
  }
  return pixels;
}

async function writeImages(directory, every) {
  const chosen = every ? EVERY_SIZE : FEW.map((place) => EVERY_SIZE[place]);
  const names = [];
  for (const [i, [width, height]] of chosen.entries()) {
    const raw = { width, height, channels: 3 };
    const encoded = await FORMATS[i % FORMATS.length](
      sharp(pixelsOf(width, height, i), { raw }),
    ).toBuffer();
    names.push(`image-${i}.bin`);
    writeFileSync(join(directory, names[i]), encoded);
  }
  return names;
}

/** Frames with their places in a longer video. */
async function writeVideos(directory) {
  const shapes = [
    { width: 97, height: 61, frames_indices: [0, 1, 2, 3], total_num_frames: 4, fps: 2 },
    { width: 40, height: 120, frames_indices: [0, 6, 13, 19, 25], total_num_frames: 30, fps: 24 },
    { width: 64, height: 64, frames_indices: [3, 30], total_num_frames: 90, fps: 8 },
  ];
  const videos = [];
  for (const [v, { width, height, ...metadata }] of shapes.entries()) {
    const frames = [];
    for (const index of metadata.frames_indices) {
      const raw = { width, height, channels: 3 };
      const name = `video-${v}-${index}.png`;
      await sharp(pixelsOf(width, height, 100 + v * 100 + index), { raw })
        .png()
        .toFile(join(directory, name));
      frames.push(name);
    }
    const duration = metadata.total_num_frames / metadata.fps;
    videos.push({ frames, ...metadata, duration });
  }
  return videos;
}

const TEXTS = [
  'Which digit is hidden in the image?',
  '  Look at the left half, then answer with \\boxed{7}.  ',
  '\n\nA table:\n\n| a | b |\n|---|---|\n| 1 | 20480 |\n',
  'Sum: 3.14159 + 2,718 = 5859.14 and 12345678901234567890',
  'naïve café, cafe\u0301, Ångström, ﬁ, 図書館、東京。 Привет мир! مرحبا',
  '👩‍👩‍👧 🙂\u200d\u00a0\u3000tabs\tand\r\nlines\r\n\r\n  end',
  "It's the dog's; they'll SAY 'don't' — we'VE seen it",
  '<think>\nIs a < b? </think>\n\n<tool_call>\n{"name": "crop", "arguments": {"x": [1, 2]}}\n</tool_call>',
  'def f(x):\n    return x ** 2  # <b>bold</b> &amp; <|, |>, <, >\n\n\n    # end\n',
  '<tool_response>\nok\n</tool_response>',
  `Zażółć gęślą jaźń. ${'pneumonoultramicroscopicsilicovolcanoconiosis'.repeat(3)}`,
  '',
  ' ',
  '\n',
  'no space:after。and…then—dash‐hyphen_underscore',
];

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'crop',
      description: 'Cuts a region out; “x” is a side. 図',
      parameters: {
        type: 'object',
        properties: {
          box: {
            type: 'array',
            items: { type: 'integer' },
            description: 'left, top, right, bottom',
          },
          zoom: { type: 'number', default: 1.5 },
        },
        required: ['box'],
      },
    },
  },
  { type: 'function', function: { name: 'count', parameters: { type: 'object', properties: {} } } },
];

const QWEN = ['qwen2_5_vl', 'qwen3_vl', 'qwen3_5'];
const ALL = [...QWEN, 'internvl-small', 'idefics3', 'smolvlm-small'];
const WITH_VIDEO = ALL.filter((name) => name !== 'idefics3');
/** With tiles of their published sizes; as many conversations are enough to count tokens. */
const LARGE = ['internvl', 'smolvlm'];
const LARGE_COUNT = 8;

/**
 * Sixty conversations: system or none, tools, images, videos, turns, texts that are lists or not. Half of
 * them where not every one is compared; each of these kinds comes in the first thirty.
 */
function conversations(every, small) {
  const text = (i) => ({ type: 'text', text: TEXTS[i % TEXTS.length] });
  const image = (i) => ({ type: 'image', image: small[i % small.length] });
  return Array.from({ length: every ? 60 : 30 }, (_, i) => {
    const hasVideo = i % 7 === 3;
    const isString = i % 6 === 5 && !hasVideo;
    const messages = [];
    const add = (role, ...parts) => {
      const whole = parts.map((part) => part.text ?? '').join('');
      messages.push({ role, content: isString ? whole : parts });
    };
    if (i % 3 !== 0) add('system', text(i + 6));
    const images = Array.from({ length: i % 4 }, (_, n) => image(i + n));
    const shown = isString ? [] : images;
    const video = hasVideo ? [{ type: 'video', video: i % 3 }] : [];
    if (i % 2 === 0) add('user', ...shown, ...video, text(i));
    else add('user', text(i), ...shown.flatMap((one, n) => [one, text(i + n + 1)]), ...video);
    const isLong = i % 4 >= 2;
    if (isLong) {
      add('assistant', text(i + 3));
      if (i % 8 === 2) {
        const call = (name, given) => ({ type: 'function', function: { name, arguments: given } });
        messages.at(-1).tool_calls = [call('crop', { box: [1, 2, 3, 4] }), call('count', {})];
        add('tool', text(i + 1));
        add('tool', ...(isString || i % 16 !== 2 ? [] : [image(i)]), text(i + 2));
      } else {
        add('user', text(i + 5), ...shown.slice(0, 1));
      }
      if (i % 5 === 2) add('assistant', text(i + 8));
    }
    const families = hasVideo ? WITH_VIDEO : isString ? [...QWEN, 'internvl-small'] : ALL;
    return {
      messages,
      ...(i % 5 < 2 && { tools: TOOLS.slice(0, 1 + (i % 2)) }),
      addGenerationPrompt: messages.at(-1).role !== 'assistant' && i % 9 !== 8,
      families: isString || i >= LARGE_COUNT ? families : [...families, ...LARGE],
    };
  });
}

/** Conversations that are also built turn by turn, as rollouts do. */
function dialogs(small) {
  const text = (content) => ({ type: 'text', text: content });
  return [0, 1, 2, 3].map((i) => ({
    messages: [
      ...(i % 2 === 0 ? [] : [{ role: 'system', content: [text('Answer in one word.')] }]),
      { role: 'user', content: [{ type: 'image', image: small[i] }, text('Which digit is this?')] },
      { role: 'assistant', content: [text('I look closer.\n<tool_call>\n{}\n</tool_call>')] },
      { role: 'user', content: [text('Here: '), { type: 'image', image: small[i + 1] }] },
      { role: 'assistant', content: [text('Seven.')] },
      { role: 'user', content: [text(TEXTS[4 + i])] },
    ],
    addGenerationPrompt: true,
    isDialog: true,
    families: ALL.filter((name) => name !== 'qwen3_5'),
  }));
}

/**
 * Writes the images and frames, and gives what `processors.py` reads as `inputs.json`.
 *
 * @param every  whether all images and conversations are compared
 */
export async function writeInputs(directory, { every }) {
  const small = every ? SMALL.every : SMALL.few;
  return {
    images: await writeImages(directory, every),
    imagesOf: every ? {} : FEWER,
    videos: await writeVideos(directory),
    conversations: [...conversations(every, small), ...dialogs(small)],
    corpus: TEXTS.concat(JSON.stringify(TOOLS), 'Assistant: User: System: Frame from 00:00:'),
  };
}
