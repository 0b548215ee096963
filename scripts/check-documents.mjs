/**
 * Checks the code that documents show. The word after the language of a code block says how:
 *
 *   ```ts            type-checked as a file of its own (also js)
 *   ```ts continue   type-checked together with the block before it
 *   ```ts run        type-checked, then run; it must end within a minute and without an error
 *   ```ts fragment   parsed only: part of a file, or of an object
 *
 * In shell blocks, every `saccade` command must be one that the command line has, with its flags.
 * Documents in `unchecked` of `allowances.json` are passed over.
 *
 *   node scripts/check-documents.mjs [document …]   after npx tsc -b
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readAllowances } from './allowances.mjs';
import { listPackages, parse } from './source-files.mjs';

const MODES = new Set(['check', 'continue', 'run', 'fragment']);
const RUN_SECONDS = 60;

/**
 * The code blocks of a document.
 *
 * @returns {{ language: string, mode: string, line: number, text: string }[]}  `line`: of its first
 *   line, from 1
 */
export function codeBlocks(markdown) {
  const blocks = [];
  let open;
  for (const [i, line] of markdown.split('\n').entries()) {
    const fence = /^(\s*)(`{3,}|~{3,})\s*([\w-]*)\s*(.*)$/.exec(line);
    if (open === undefined && fence !== null) {
      const [, indent, mark, language, mode] = fence;
      open = { indent, mark, language, mode: mode.trim() || 'check', line: i + 2, lines: [] };
    } else if (open !== undefined && fence?.[2].startsWith(open.mark) && fence[3] === '') {
      const { language, mode, line: first, lines } = open;
      blocks.push({ language, mode, line: first, text: lines.join('\n') });
      open = undefined;
    } else if (open !== undefined) {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    }
  }
  return blocks;
}

/** The `saccade` commands of a shell block, as words. Separators within quotes separate nothing. */
export function saccadeCommands(text) {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/^\s*\$\s+/, '').replace(/\s#\s.*$/, ''))
    .flatMap((line) => line.match(/(?:"[^"]*"|'[^']*'|[^;|&"'])+/g) ?? [])
    .map((part) => part.trim().match(/"[^"]*"|'[^']*'|\S+/g) ?? [])
    .map((words) => {
      const at = words.findIndex((word) => !/^(npx|\w+=\S*)$/.test(word));
      const [command, ...rest] = words.slice(Math.max(at, 0));
      if (command === 'saccade') return rest;
      if (command === 'npm' && rest[0] === 'run' && rest[1] === 'train') {
        return ['train', ...rest.slice(2).filter((word) => word !== '--')];
      }
      return undefined;
    })
    .filter((words) => words !== undefined)
    .map((words) => words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2')));
}

/** Every document of the repository, relative to its root. */
function listDocuments(root) {
  const { stdout } = spawnSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' });
  return stdout.split('\n').filter((path) => path !== '');
}

/** A folder in which every package, and what packages depend on, can be imported by name. */
function makeFolder(root) {
  const folder = join(root, '.cache', 'documents');
  rmSync(folder, { recursive: true, force: true });
  const link = (name, target) => {
    const path = join(folder, 'node_modules', name);
    if (existsSync(path) || !existsSync(target)) return;
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path, 'dir');
  };
  for (const own of listPackages(root)) {
    if (own.folder === '' || own.manifest.name === undefined) continue;
    link(own.manifest.name, join(root, own.folder));
    for (const name of Object.keys(own.manifest.dependencies ?? {})) {
      link(name, join(root, own.folder, 'node_modules', name));
    }
  }
  const options = {
    ...{ composite: false, incremental: false, declaration: false, declarationMap: false },
    // An example may leave its values unused; the compiled packages are what a user imports.
    ...{ noUnusedLocals: false, noUnusedParameters: false, sourceMap: false },
    ...{ customConditions: [], allowJs: true, checkJs: true, outDir: 'out', rootDir: '.' },
    // Stricter than what a reader's own project has by default.
    ...{ noUncheckedIndexedAccess: false, exactOptionalPropertyTypes: false },
    ...{ useUnknownInCatchVariables: false },
    ...{ lib: ['es2023', 'dom', 'dom.iterable'], types: ['node'], isolatedDeclarations: false },
  };
  const config = {
    extends: '../../tsconfig.base.json',
    compilerOptions: { ...options, typeRoots: ['../../node_modules/@types'] },
    include: ['*.ts', '*.mjs'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

/** Files of the type-checked blocks of a document, with the line each begins at. */
function filesOf(path, blocks) {
  const files = [];
  for (const { language, mode, line, text } of blocks) {
    if (mode === 'fragment') continue;
    if (mode === 'continue' && files.length > 0) files.at(-1).parts.push({ line, text });
    else files.push({ path, language, mode, parts: [{ line, text }] });
  }
  return files;
}

function syntaxProblems(path, { language, mode, line, text }) {
  if (!MODES.has(mode)) {
    return [`${path}:${line} has a block marked ${mode}. Use one of ${[...MODES].join(', ')}.`];
  }
  if (mode !== 'fragment') return [];
  // Part of a file, of an object or of a class.
  const forms = [text, `({${text}\n})`, `class C {${text}\n}`, `async () => {${text}\n}`];
  const isParsed = forms.some((form) => parse(form, `x.${language}`).errors.length === 0);
  return isParsed ? [] : [`${path}:${line} has a block that does not parse.`];
}

function lineIn({ parts }, lineOfFile) {
  let before = 0;
  for (const { line, text } of parts) {
    const count = text.split('\n').length;
    if (lineOfFile <= before + count) return line + lineOfFile - before - 1;
    before += count;
  }
  return parts.at(-1).line;
}

function typeProblems(root, folder, files) {
  const names = new Map();
  for (const [i, file] of files.entries()) {
    const name = `block-${i}.${file.language === 'ts' ? 'ts' : 'mjs'}`;
    names.set(name, file);
    // The last line makes it a module, in which `await` may stand.
    const text = file.parts.map((part) => part.text).join('\n');
    writeFileSync(join(folder, name), `${text}\nexport {};\n`);
  }
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { stdout } = spawnSync(tsc, ['-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const problems = stdout.split('\n').flatMap((said) => {
    const match = /^(block-\d+\.\w+)\((\d+),\d+\): error (.*)$/.exec(said);
    if (match === null) return /error TS/.test(said) ? [said] : [];
    const file = names.get(match[1]);
    return [`${file.path}:${lineIn(file, Number(match[2]))} ${match[3]}`];
  });
  if (problems.length > 0) return problems;
  return [...names].flatMap(([name, file]) => {
    if (file.mode !== 'run') return [];
    const run = spawnSync(process.execPath, [join(folder, 'out', name.replace(/\.ts$/, '.js'))], {
      cwd: folder,
      encoding: 'utf8',
      timeout: RUN_SECONDS * 1000,
    });
    if (run.status === 0) return [];
    const said = run.stderr.trimEnd().split('\n').slice(-12).join('\n');
    return [`${file.path}:${file.parts[0].line} does not run:\n${said}`];
  });
}

/** Lists the problems with the code in some documents, one sentence each. */
export async function checkDocuments(root, given) {
  const unchecked = readAllowances(root).unchecked ?? {};
  const paths = given ?? listDocuments(root).filter((path) => unchecked[path] === undefined);
  const problems = [];
  const files = [];
  const commandLine = join(root, 'packages', 'cli', 'dist', 'check-command.js');
  const { checkCommand } = await import(pathToFileURL(commandLine).href);
  for (const path of paths) {
    const blocks = codeBlocks(readFileSync(join(root, path), 'utf8'));
    const code = blocks.filter(({ language }) => ['ts', 'js', 'mjs'].includes(language));
    problems.push(...code.flatMap((block) => syntaxProblems(path, block)));
    files.push(...filesOf(path, code));
    for (const { language, line, text } of blocks) {
      if (!['sh', 'bash', 'shell', 'console'].includes(language)) continue;
      for (const words of saccadeCommands(text)) {
        const problem = await checkCommand(words);
        if (problem !== undefined) {
          problems.push(`${path}:${line} saccade ${words.join(' ')}: ${problem}`);
        }
      }
    }
  }
  if (files.length > 0) problems.push(...typeProblems(root, makeFolder(root), files));
  return problems;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const given = process.argv.slice(2);
  const problems = await checkDocuments(root, given.length > 0 ? given : undefined);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
