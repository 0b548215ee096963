/** Style of pages of evaluations side by side, beside that of reports. */
export const sideStyle: string = `
.dot-3 { fill: var(--three); stroke: var(--card); stroke-width: 1.25; }
.dot-4 { fill: var(--four); stroke: var(--card); stroke-width: 1.25; }
.dot-5 { fill: var(--five); stroke: var(--card); stroke-width: 1.25; }
.dot-6 { fill: var(--six); stroke: var(--card); stroke-width: 1.25; }
.models { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; font-size: .9rem; margin-top: .6rem; }
nav.suites { margin-top: 1rem; display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; }
a { color: var(--one); }
a:focus-visible, select:focus-visible, input:focus-visible, button:focus-visible, .scroll:focus-visible { outline: 2px solid var(--one); outline-offset: 2px; }
.table-card { margin-bottom: 1rem; }
.table-card h3 { font-size: .95rem; }
.table-head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .2rem 1rem; padding: .2rem 1rem 0; }
.table-card .about { padding: 0 1rem; margin-bottom: .4rem; }
.downloads { font-size: .8rem; display: flex; gap: .8rem; }
.downloads a { padding: .25rem 0; }
.table-card th { max-width: 16rem; min-width: 4.5rem; white-space: normal; overflow-wrap: break-word; }
.table-card th[scope=row] { font-weight: 600; min-width: 9rem; }
.table-card td { min-width: 4.5rem; }
.chart .key svg { flex: none; }
.chart .key li { min-width: 0; overflow-wrap: anywhere; }
.table-card .scroll { overflow-x: auto; }
.charts { margin-bottom: 1rem; }
.filters { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; margin-bottom: .8rem; font-size: .875rem; }
.filters[hidden] { display: none; }
.filters label { display: flex; flex-direction: column; gap: .15rem; }
.filters label.check { flex-direction: row; align-items: center; gap: .4rem; min-height: 2.25rem; }
.filters select, .filters input[type=search], .filters button { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--quiet); border-radius: 6px; padding: .35rem .6rem; min-height: 2.25rem; max-width: 100%; }
.filters .shown { min-height: 2.25rem; display: flex; align-items: center; color: var(--quiet); }
.tasks { max-height: 26rem; overflow: auto; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; margin-bottom: 1rem; padding-top: .4rem; }
.tasks thead th { position: sticky; top: -.4rem; background: var(--card); }
.tasks th[scope=row] { min-width: 14rem; }
.kind { display: inline-block; font-size: .75rem; padding: 0 .3rem; border: 1px solid var(--quiet); border-radius: 4px; color: var(--quiet); }
.side-score { display: inline-block; overflow-wrap: anywhere; margin-right: .6rem; font-size: .85rem; }
.sides.many { grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.sides.many .side { border-top: 1px solid var(--rule); }
[hidden] { display: none !important; }
`;
