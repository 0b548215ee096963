/** The page: its controls, and everything a run shows while it goes. */
import { algorithms } from '@saccade/algorithms';
import { cardsTask } from '../task/cards.ts';
import { algorithmNames } from '../training/algorithm-names.ts';
import { overviewSide } from '../training/image-config.ts';
import { type Preset, presets, withLength } from '../training/presets.ts';
import { probeAdapter, showAdapter } from './adapter.ts';
import { makeCurves } from './curves.ts';
import { element, find } from './element.ts';
import { describeFault } from './faults.ts';
import { Gallery } from './gallery.ts';
import { drawHeadline } from './headline.ts';
import type { Fault } from './messages.ts';
import { formatDuration } from './numbers.ts';
import { Session } from './session.ts';

/** Between two changes of the gallery, milliseconds: long enough to see something. */
const GALLERY_PACE = 1500;

const STAGES = {
  preparing: 'Making demonstrations',
  'cold start': 'Cold start',
  reinforcement: 'Reinforcement learning',
  evaluation: 'Evaluating on held-out tasks',
} as const;

const presetField = find('preset', HTMLSelectElement);
const algorithmField = find('algorithm', HTMLSelectElement);
const seedField = find('seed', HTMLInputElement);
const updatesField = find('updates', HTMLInputElement);
const startField = find('start-from', HTMLSelectElement);
const stepsField = find('steps', HTMLInputElement);
const bonusField = find('bonus', HTMLInputElement);
const runFields = [presetField, algorithmField, seedField, startField, stepsField, bonusField];
const fields = [...runFields, updatesField];
/** Whether the run starts from the weights that come with the page. */
const isWarm = (): boolean => startField.value === 'shipped';
const holdField = find('hold', HTMLInputElement);
const startButton = find('start', HTMLButtonElement);
const pauseButton = find('pause', HTMLButtonElement);
const resetButton = find('reset', HTMLButtonElement);
const stageText = find('stage', HTMLElement);
const detailText = find('detail', HTMLElement);
const progressBar = find('progress', HTMLProgressElement);
const faultBox = find('fault', HTMLElement);
const gallery = new Gallery(find('gallery', HTMLElement));

let isDue = false;
const session = new Session(() => {
  // Steps may come faster than frames.
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
  });
});

let adapterFault: Fault | undefined;
let curves: ReturnType<typeof makeCurves> = [];
/** When the gallery was drawn last, and of which step; −1 before anything was. */
let shownAt = 0;
let shownStep = -1;
/** The size whose table is shown as long as there are no trajectories. */
let previewed: string | undefined;

function chosenPreset(): Preset {
  const chosen = presets.find(({ name }) => name === presetField.value) ?? presets[0];
  if (chosen === undefined) throw new Error('There is no preset.');
  return chosen;
}

function fillControls(): void {
  presetField.append(...presets.map(({ name }) => element('option', { value: name }, name)));
  algorithmField.append(
    ...algorithmNames().map((name) => element('option', { value: name }, name)),
  );
  algorithmField.value = 'pyvision-rl';
}

/** Describes the chosen size and algorithm. */
function describeChoice(): void {
  const { description, paper } = algorithms.get(algorithmField.value);
  const choice = `${chosenPreset().description} ${algorithmField.value} (${paper}): ${description}`;
  find('choice', HTMLElement).textContent = choice;
}

/** A size brings the length of its run along. */
function fillLength(): void {
  const { coldStart, rl } = chosenPreset();
  updatesField.valueAsNumber = coldStart.updates;
  stepsField.valueAsNumber = rl.steps;
}

function resetCurves(): void {
  const { valueAsNumber: updates } = updatesField;
  curves = makeCurves(withLength(chosenPreset(), updates, stepsField.valueAsNumber));
  find('charts', HTMLElement).replaceChildren(...curves.map(({ chart }) => chart.root));
}

function draw(): void {
  const { state, history } = session;
  const isActive = state === 'running' || state === 'paused';
  for (const field of fields) {
    field.disabled = isActive || (field === updatesField && isWarm());
  }
  startButton.disabled = isActive || adapterFault !== undefined;
  startButton.textContent = state === 'finished' || state === 'failed' ? 'Start again' : 'Start';
  pauseButton.disabled = !isActive;
  pauseButton.textContent = state === 'paused' ? 'Resume' : 'Pause';
  resetButton.disabled = state === 'idle';
  drawStatus();
  const fault = history.fault ?? adapterFault;
  faultBox.hidden = fault === undefined;
  if (fault !== undefined && faultBox.textContent === '') {
    faultBox.replaceChildren(...describeFault(fault));
  }
  if (fault === undefined) faultBox.replaceChildren();
  for (const { chart, series } of curves) chart.draw(series(history));
  drawHeadline(find('headline', HTMLElement), session);
  drawGallery();
}

function drawStatus(): void {
  const { state, history } = session;
  const { progress } = history;
  const left = session.secondsLeft;
  const stage = progress ? STAGES[progress.stage] : 'Opening the GPU';
  const names = { idle: 'Not started', finished: 'Finished', failed: 'Stopped', paused: 'Paused' };
  const name = state === 'running' ? stage : names[state];
  // Only a change is read out.
  if (stageText.textContent !== name) stageText.textContent = name;
  const parts = [
    (state === 'paused' || state === 'failed') && stage,
    progress && progress.done > 0 && `${progress.done} of ${progress.total}`,
    progress?.stage === 'cold start' && progress.done === 0 && 'compiling the kernels',
    formatDuration(session.seconds),
    state === 'running' && left !== undefined && `${formatDuration(left)} left of this stage`,
  ];
  detailText.textContent = state === 'idle' ? '' : parts.filter(Boolean).join(' · ');
  progressBar.max = progress?.total ?? 1;
  progressBar.value = state === 'finished' ? progressBar.max : (progress?.done ?? 0);
}

function drawGallery(): void {
  const { shown } = session.history;
  if (shown === undefined) {
    const { name, task } = chosenPreset();
    if (previewed !== name) gallery.preview(cardsTask(task, 'heldOut', 0), overviewSide(task));
    previewed = name;
    shownStep = 0;
    shownAt = 0;
    return;
  }
  const now = performance.now();
  if (holdField.checked || shown.step === shownStep) return;
  if (session.state === 'running' && now - shownAt < GALLERY_PACE) return;
  shownAt = now;
  shownStep = shown.step;
  previewed = undefined;
  gallery.show(shown.groups, shown.step);
}

find('controls', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  resetCurves();
  session.start({
    preset: presetField.value,
    algorithm: algorithmField.value,
    hasToolBonus: bonusField.checked,
    seed: seedField.valueAsNumber,
    isWarm: isWarm(),
    updates: updatesField.valueAsNumber,
    steps: stepsField.valueAsNumber,
  });
  pauseButton.disabled = false;
  pauseButton.focus();
});
pauseButton.addEventListener('click', () => {
  if (session.state === 'paused') session.resume();
  else session.pause();
});
resetButton.addEventListener('click', () => {
  session.reset();
  startButton.disabled = false;
  startButton.focus();
});
presetField.addEventListener('change', () => {
  fillLength();
  describeChoice();
  drawGallery();
});
startField.addEventListener('change', draw);
algorithmField.addEventListener('change', describeChoice);
holdField.addEventListener('change', drawGallery);

fillControls();
fillLength();
describeChoice();
resetCurves();
draw();
// The clock continues between two steps.
setInterval(() => {
  if (session.state === 'running') drawStatus();
}, 1000);
void probeAdapter().then((adapter) => {
  showAdapter(find('adapter', HTMLElement), adapter);
  if (adapter.fault !== undefined) adapterFault = adapter.fault;
  else if (adapter.isSoftware) presetField.value = 'tiny';
  fillLength();
  describeChoice();
  if (session.state === 'idle') resetCurves();
  draw();
});
