/** The newest trajectories, turn by turn, with the looks drawn on the image they were cut from. */
import type { Task } from '@saccade/gym';
import {
  codeOf,
  type ScoredTrajectory,
  type TrajectoryImage,
  type Turn,
} from '@saccade/trajectory';
import { factsOf } from '../task/cards.ts';
import type { Box } from '../task/pixel-image.ts';
import type { ShownGroup } from '../training/run.ts';
import { element, svgElement } from './element.ts';
import { formatNumber } from './numbers.ts';

/** Trajectories of a group that are shown. */
const SHOWN = 4;

const STOP_REASONS: Readonly<Record<string, string>> = {
  turnLimit: 'used up its tool calls',
  lengthLimit: 'used up its tokens',
  invalidAction: 'wrote neither a call nor an answer',
};

/** Images as object URLs, which must be given back. */
export class Gallery {
  readonly #root: HTMLElement;
  #urls = new Map<Uint8Array, string>();

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  show(groups: readonly ShownGroup[], step: number): void {
    const old = this.#urls;
    this.#urls = new Map();
    this.#root.replaceChildren(...groups.map((group) => this.#drawGroup(group, step)));
    for (const url of old.values()) URL.revokeObjectURL(url);
  }

  /** A task before anybody has tried it: what the model sees first, the table, and the card itself. */
  preview(task: Task, overviewSide: number): void {
    this.show([], 0);
    const [source] = task.images;
    if (source === undefined) return;
    const { box } = factsOf(task);
    const [left, top, right, bottom] = box;
    const card = svgElement(
      'svg',
      {
        viewBox: `${left} ${top} ${right - left} ${bottom - top}`,
        role: 'img',
        'aria-label': `The card with the symbol, as a crop shows it: ${task.answer}`,
      },
      svgElement('image', {
        ...{ href: this.#url(source.png), width: source.width, height: source.height },
        class: 'pixels',
      }),
    );
    const about = 'Trajectories come with the first step of reinforcement learning.';
    this.#root.replaceChildren(
      element(
        'article',
        { class: 'group' },
        element(
          'header',
          {},
          element('h3', {}, `A task: ${task.question}`),
          element('p', { class: 'quiet' }, `Right: “${task.answer}”. ${about}`),
        ),
        element(
          'div',
          { class: 'trajectories' },
          drawOverview(source.png, overviewSide, overviewSide),
          figure(this.#drawImage(source, [], box), 'The table, with the card in question'),
          figure(card, 'What a crop of the card shows'),
        ),
      ),
    );
  }

  #drawGroup({ task, trajectories }: ShownGroup, step: number): HTMLElement {
    const right = trajectories.filter(({ isCorrect }) => isCorrect).length;
    const [source] = task.images;
    const shown = choose(trajectories);
    const { modelWidth = 0, modelHeight = 0 } = shown[0]?.segments[0]?.images[0] ?? {};
    const about =
      `Right: “${task.answer}”. ${right} of ${trajectories.length} trajectories answered it; ` +
      `${shown.length} of them are shown.`;
    return element(
      'article',
      { class: 'group' },
      element(
        'header',
        {},
        element('h3', {}, `Step ${step}: ${task.question}`),
        element('p', { class: 'quiet' }, about),
      ),
      element(
        'div',
        { class: 'trajectories' },
        ...(source ? [drawOverview(source.png, modelWidth, modelHeight)] : []),
        ...shown.map((one) => this.#drawTrajectory(one, task.images[0], factsOf(task).box)),
      ),
    );
  }

  #drawTrajectory(
    trajectory: ScoredTrajectory,
    source:
      | { readonly png: Uint8Array; readonly width: number; readonly height: number }
      | undefined,
    truth: Box,
  ): HTMLElement {
    const looks = trajectory.segments.flatMap(({ kind, images }) =>
      kind === 'observation' ? images : [],
    );
    const { isCorrect, reward, answer, stopReason } = trajectory;
    const said = answer === undefined ? (STOP_REASONS[stopReason] ?? stopReason) : `“${answer}”`;
    return element(
      'section',
      { class: 'trajectory' },
      element(
        'h4',
        {},
        element(
          'span',
          { class: `badge ${isCorrect ? 'right' : 'wrong'}` },
          `${isCorrect ? '✓ right' : '✗ wrong'}: ${said}`,
        ),
        element('span', { class: 'quiet' }, ` reward ${formatNumber(reward)}`),
      ),
      source && this.#drawImage(source, looks, truth),
      element(
        'ol',
        { class: 'turns' },
        ...trajectory.turns.map((turn) => this.#drawTurn(turn, trajectory, looks)),
      ),
    );
  }

  #drawImage(
    {
      png,
      width,
      height,
    }: { readonly png: Uint8Array; readonly width: number; readonly height: number },
    looks: readonly TrajectoryImage[],
    truth: Box,
  ): SVGElement {
    // A hundredth of the image: marks are as large on a small one.
    const unit = width / 100;
    const box = ([left, top, right, bottom]: Box, style: string): SVGElement =>
      svgElement('rect', {
        class: `box ${style}`,
        x: left + unit,
        y: top + unit,
        width: Math.max(unit, right - left - 2 * unit),
        height: Math.max(unit, bottom - top - 2 * unit),
      });
    return svgElement(
      'svg',
      {
        viewBox: `0 0 ${width} ${height}`,
        role: 'img',
        'aria-label': `The image with ${looks.length} looks; a dashed box is around the symbol`,
      },
      svgElement('image', { href: this.#url(png), width, height, class: 'pixels' }),
      box(truth, 'truth'),
      ...looks.flatMap((look, index) => {
        const place = boxOf(look);
        const [x, y, side] = [place[0] + unit, place[1] + unit, 9 * unit];
        const tag = { x, y, width: side, height: side, class: 'tag' };
        const middle = { x: x + side / 2, y: y + side * 0.8, 'font-size': side * 0.85 };
        const text = { ...middle, class: 'tag-text' };
        return [
          box(place, 'look'),
          svgElement('rect', tag),
          svgElement('text', text, String(index + 1)),
        ];
      }),
    );
  }

  #drawTurn(
    { action, result, segment }: Turn,
    { segments }: ScoredTrajectory,
    looks: readonly TrajectoryImage[],
  ): HTMLElement {
    if (action.kind === 'answer') {
      return element('li', {}, 'answers ', element('strong', {}, action.answer));
    }
    if (action.kind === 'invalid') {
      return element('li', {}, element('code', {}, segments[segment]?.text ?? ''));
    }
    const seen = segments[segment + 1]?.images ?? [];
    return element(
      'li',
      {},
      element('code', {}, codeOf(action) ?? segments[segment]?.text ?? ''),
      result?.kind === 'exception' &&
        element('p', { class: 'failed' }, `${result.errorType}: ${result.errorMessage}`),
      ...seen.map((image) =>
        element('img', {
          class: 'crop',
          src: this.#url(image.png),
          alt: `Look ${looks.indexOf(image) + 1}, ${image.width} × ${image.height} px`,
        }),
      ),
    );
  }

  #url(png: Uint8Array): string {
    let url = this.#urls.get(png);
    if (url === undefined) {
      url = URL.createObjectURL(new Blob([Uint8Array.from(png)], { type: 'image/png' }));
      this.#urls.set(png, url);
    }
    return url;
  }
}

function figure(content: Element, caption: string): HTMLElement {
  return element('figure', { class: 'overview' }, content, element('figcaption', {}, caption));
}

/** The image that the model receives before it looks closer. */
function drawOverview(png: Uint8Array, width: number, height: number): HTMLElement {
  const canvas = element('canvas', {
    ...{ width, height, role: 'img' },
    'aria-label': 'The image as the model is given it first: no symbol can be seen',
  });
  void shrink(png, canvas);
  return figure(canvas, `What the model sees first: ${width} × ${height} px, no symbol in sight`);
}

/** Right and wrong ones in turn, those with most turns first: what tells most. */
function choose(trajectories: readonly ScoredTrajectory[]): readonly ScoredTrajectory[] {
  const byTurns = [...trajectories].sort((a, b) => b.turns.length - a.turns.length);
  const right = byTurns.filter(({ isCorrect }) => isCorrect);
  const wrong = byTurns.filter(({ isCorrect }) => !isCorrect);
  const half = Math.max(SHOWN / 2, SHOWN - wrong.length);
  const first = right.slice(0, half);
  return [...first, ...wrong.slice(0, SHOWN - first.length)];
}

/** The box of the source that a look shows; this environment crops and turns nothing. */
function boxOf({ origin, width, height }: TrajectoryImage): Box {
  const [scaleX, , left, , scaleY, top] = origin?.map ?? [1, 0, 0, 0, 1, 0];
  return [left, top, left + scaleX * width, top + scaleY * height];
}

async function shrink(png: Uint8Array, canvas: HTMLCanvasElement): Promise<void> {
  const { width, height } = canvas;
  if (width === 0 || height === 0) return;
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(png)]), {
    resizeWidth: width,
    resizeHeight: height,
    resizeQuality: 'high',
  });
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
}
