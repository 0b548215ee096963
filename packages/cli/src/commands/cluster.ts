/** The options of `saccade cluster`. */
import type { ClusterFlags, LogFlags, SubmitFlags, UpFlags } from '../cluster.ts';
import { more, wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addCluster(program: LazyCommand): void {
  const cluster = program
    .command('cluster')
    .description('A worker, engines and sandboxes on Ray, from one file: here or on a cluster.');
  addUp(cluster);
  withName(cluster.command('status'))
    .description('Say how every part and job is.')
    .addOption(jsonOption())
    .addHelpText('after', '\nThe exit status is 1 unless every part is healthy.')
    .action(async (flags: ClusterFlags) => (await import('../cluster.ts')).showStatus(flags));
  addSubmit(cluster);
  withName(cluster.command('stop'))
    .description('Stop a job as Ctrl-C does; it saves a checkpoint.')
    .argument('<job>', 'its name, e.g. job-1')
    .action(async (job: string, flags: ClusterFlags) =>
      (await import('../cluster.ts')).stopSubmitted(job, flags),
    );
  withName(cluster.command('logs'))
    .description('Print the logs of parts and jobs; all are in clusters/<name>/logs.')
    .argument('[part...]', 'worker, engine-0, sandbox-0, job-1, supervisor, … (default: all)')
    .option('-n, --lines <n>', 'last lines of each', wholeNumber, 20)
    .option('-f, --follow', 'go on with what comes')
    .action(async (parts: readonly string[], flags: LogFlags) =>
      (await import('../cluster.ts')).showLogs(parts, flags),
    );
  withName(cluster.command('metrics'))
    .description('Print the metrics of all parts in Prometheus’ format.')
    .addHelpText(
      'after',
      `
A Prometheus beside the cluster takes its targets from a file that follows restarts:

  scrape_configs:
    - job_name: saccade
      file_sd_configs: [{ files: [clusters/saccade/prometheus.json] }]`,
    )
    .action(async (flags: ClusterFlags) => (await import('../cluster.ts')).showMetrics(flags));
  withName(cluster.command('down'))
    .description('Stop jobs, end every part, and Ray where it was started here.')
    .addOption(jsonOption())
    .action(async (flags: ClusterFlags) => (await import('../cluster.ts')).takeDown(flags));
}

function withName(command: LazyCommand): LazyCommand {
  return command
    .option('--name <cluster>', 'which cluster (default: the only one)')
    .option('--clusters <folder>', 'where clusters have their files', 'clusters');
}

function addUp(cluster: LazyCommand): void {
  withName(cluster.command('up'))
    .description('Start a cluster, and wait until every part is healthy.')
    .argument('[file]', 'what it consists of, in YAML or JSON', 'cluster.yaml')
    .option('--local', 'start Ray on this machine, whatever the file says')
    .option('--python <path>', 'Python with saccade-worker and Ray, instead of ray.python')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
A file names the parts; each part may be missing:

  ray: { address: auto, python: /opt/venv/bin/python }   # without an address Ray is started here
  worker: { model: hf:Qwen/Qwen2.5-VL-3B-Instruct, ranks: 8, gpus: 1, options: [--dtype, bf16] }
  engines: { kind: vllm, count: 1, gpus: 1 }             # or sglang, or saccade
  sandboxes: { count: 4, cpus: 8 }

Worker, engines and sandboxes are placement groups of Ray. A part that is lost is started again at the
same address. State, logs and checkpoints are in clusters/<name>/.

Examples:
  saccade cluster up examples/cluster/local.yaml
  saccade cluster status
  saccade cluster submit smoke --set rl.steps=4
  saccade cluster logs worker --follow
  saccade cluster down`,
    )
    .action(async (file: string, flags: UpFlags) =>
      (await import('../cluster.ts')).bringUp(file, flags),
    );
}

function addSubmit(cluster: LazyCommand): void {
  withName(cluster.command('submit'))
    .description('Train a recipe on the cluster, and follow its log.')
    .argument('<recipe>', 'a recipe’s name (see `saccade recipes`) or its file')
    .option('--set <field=value>', 'change a field of the recipe; may be repeated', more)
    .option('--seed <n>', 'seed of every random stream', wholeNumber)
    .option('--steps <n>', 'reinforcement-learning steps', wholeNumber)
    .option('--out <directory>', 'run directory (default: runs/<recipe>-seed<seed>)')
    .option('--config <file>', 'settings from a JSON file, before those of --set')
    .option('--no-follow', 'return at once')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
The recipe learns on the worker (model=remote), samples on the engine (engine=http) and runs code on the
sandboxes (sandbox=remote); settings of --set come after these. What the cluster lacks stays as the recipe
has it. The job runs on this machine and goes on when its terminal is closed; Ctrl-C only stops following.
The exit status is the job's.

Examples:
  saccade cluster submit smoke
  saccade cluster submit pyvision-image-nano --set model.lora.rank=16 --no-follow
  saccade cluster stop job-1`,
    )
    .action(async (recipe: string, flags: SubmitFlags) =>
      (await import('../cluster.ts')).submitRecipe(recipe, flags),
    );
}
