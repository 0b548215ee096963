/** Style of rating pages beside that of reports: buttons, keys, and bars that stay in view. */
export const pageStyle: string = `
.ratings button, .ratings textarea { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--quiet); border-radius: 8px; }
.ratings button { padding: .5rem .9rem; min-height: 2.75rem; cursor: pointer; }
.ratings button:hover:not(:disabled) { border-color: var(--one); }
.ratings button:disabled { opacity: .45; cursor: default; }
.ratings button[aria-pressed="true"] { background: var(--one); border-color: var(--one); color: var(--page); font-weight: 600; }
.ratings button:focus-visible, .ratings textarea:focus-visible, .ratings input:focus-visible { outline: 3px solid var(--one); outline-offset: 2px; }
.ratings #place:focus { outline: none; }
.ratings kbd { font: .8rem ui-monospace, Menlo, Consolas, monospace; border: 1px solid currentColor; border-radius: 4px; padding: 0 .3rem; opacity: .8; }
.ratings .bar { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; margin-top: 1.25rem; }
.ratings .bar h2 { margin: 0; }
.ratings .moves { margin-left: auto; display: flex; gap: .5rem; }
.ratings progress { width: 10rem; accent-color: var(--one); }
.ratings #said { min-height: 1.4rem; }
.ratings .finished { border-left: 4px solid var(--right); background: var(--card); padding: .6rem 1rem; margin: .5rem 0; }
.ratings .item .question { padding: .2rem 1rem .7rem; font-size: 1rem; }
.ratings .sides.one { grid-template-columns: minmax(0, 1fr); }
.ratings .side h3 { margin-bottom: .5rem; }
.ratings .answer-bar { position: sticky; bottom: 0; background: var(--page); border-top: 1px solid var(--rule); padding: .7rem 0; margin-top: 1rem; }
.ratings .answer-bar .criterion { margin-bottom: .5rem; }
.ratings .criterion { font-weight: 600; margin-bottom: .6rem; }
.ratings .choices { display: flex; flex-wrap: wrap; gap: .6rem; }
.ratings .choices button { flex: 1 1 9rem; }
.ratings #begin > * + * { margin-top: .8rem; }
.ratings .comment { display: block; margin-top: .7rem; font-size: .875rem; }
.ratings .comment textarea { display: block; width: 100%; padding: .4rem .6rem; margin-top: .2rem; resize: vertical; }
.ratings .files { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; margin: .7rem 0; font-size: .875rem; }
.ratings .file input { max-width: 15rem; }
@media (max-width: 46rem) {
  .ratings .answer-bar { position: static; }
  .ratings .choices button { flex-basis: 100%; }
  .ratings .moves { margin-left: 0; width: 100%; }
  .ratings .moves button { flex: 1; }
}
@media (prefers-reduced-motion: no-preference) { .ratings button { transition: border-color .12s; } }
`;
