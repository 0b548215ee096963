/** Says how an image was turned by the pose in which its text can be read. */

export const uses = 'the pose in which text is read best (`detect_orientation`)';
export const tools = [];

export const questionType = () => 'five ways';

const words = {
  rotate90: '90 degrees counter-clockwise',
  rotate180: '180 degrees',
  rotate270: '90 degrees clockwise',
  'flip-horizontal': 'left to right',
  'flip-vertical': 'top to bottom',
};

/** The letter of the pose that `detect_orientation` finds. */
export async function answer({ question, images }, eyes) {
  const pose = await poseOf(images, eyes);
  const said = words[pose];
  return said && new RegExp(`^([A-E])\\. .*${said}`, 'm').exec(question)?.[1];
}

/** The pose, or undefined where no text tells it. */
export async function poseOf(images, eyes) {
  try {
    return (await eyes.python('orientation', {}, images)).pose;
  } catch {
    // The tool declines where it finds no text.
    return undefined;
  }
}
