/** Answers about turned documents: puts the image upright, then reads it as documents are read. */
import sharp from 'sharp';
import { answer as read } from './documents.mjs';
import { poseOf } from './orientation-diagnostic.mjs';

export const uses = 'the turn (`detect_orientation`), then OCR of enlarged tiles (`easyocr`)';
export const tools = [];

export const questionType = ({ metadata }) => `${metadata.kind} ${metadata.program.operation}`;

/** sharp turns clockwise; its `flop` is left to right. */
const undo = {
  rotate90: (image) => image.rotate(90),
  rotate180: (image) => image.rotate(180),
  rotate270: (image) => image.rotate(270),
  'flip-horizontal': (image) => image.flop(),
  'flip-vertical': (image) => image.flip(),
};

/** The answer as it is read once the image is upright. */
export async function answer({ question, images: [image] }, eyes) {
  const turn = undo[await poseOf([image], eyes)];
  if (turn === undefined) return await read({ question, images: [image] }, eyes);
  const { data, info } = await turn(sharp(image.png)).png().toBuffer({ resolveWithObject: true });
  const upright = { ...image, png: data, width: info.width, height: info.height };
  return await read({ question, images: [upright] }, eyes);
}
