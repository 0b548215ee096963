/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The script that filters tasks, as one function that uses nothing outside of itself: its text goes into
 * the page. Without it all tasks are shown.
 */
export function runTaskFilters(): void {
  for (const part of document.querySelectorAll<HTMLElement>('.suite')) {
    const form = part.querySelector<HTMLFormElement>('form.filters');
    if (form === null) continue;
    form.hidden = false;
    const tasks = [...part.querySelectorAll<HTMLElement>('[data-outcomes]')];
    const told = part.querySelector('.shown');
    const apply = (): void => {
      const values = new FormData(form);
      const text = String(values.get('text') ?? '')
        .trim()
        .toLowerCase();
      const kind = String(values.get('error') ?? '');
      const onlyMixed = values.get('mixed') === 'yes';
      let rows = 0;
      for (const task of tasks) {
        const outcomes = (task.dataset.outcomes ?? '').split(' ');
        const errors = (task.dataset.errors ?? '').split(' ').map((own) => own.split(','));
        const isShown =
          outcomes.every((outcome, model) => {
            const wanted = String(values.get(`outcome-${model}`) ?? '');
            return wanted === '' || wanted === outcome;
          }) &&
          (kind === '' || errors.some((own) => own.includes(kind))) &&
          (!onlyMixed || task.dataset.mixed === 'yes') &&
          (text === '' || (task.dataset.text ?? '').includes(text));
        task.hidden = !isShown;
        if (isShown && task.tagName === 'TR') rows++;
      }
      if (told !== null) {
        const all = tasks.filter(({ tagName }) => tagName === 'TR').length;
        told.textContent = `${rows} of ${all} tasks`;
      }
    };
    form.addEventListener('input', apply);
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('reset', () => setTimeout(apply));
    apply();
  }
  // A link to a folded task opens it.
  const open = (): void => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  window.addEventListener('hashchange', open);
  open();
}
