/** The options of `saccade serve learner`. */
import type { ServeLearnerFlags } from '../serve-learner.ts';
import { wholeNumber } from '../shared.ts';
import { addBackendOption } from './backend-option.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addListenOptions } from './listen-options.ts';

export function addServeLearner(serve: LazyCommand): void {
  const command = serve
    .command('learner')
    .description('Train a policy for clients of the Tinker protocol: log-probs out, gradients in.')
    .argument('<path>', 'a policy, a run directory, or hf:owner/name: the base of all models');
  addBackendOption(
    addListenOptions(command, { port: 8760, tokenVariable: 'SACCADE_LEARNER_TOKEN' }),
  )
    .option('--threads <n>', 'kernel threads (default: one per core)', wholeNumber)
    .option('--model <name>', 'what clients call the base (default: that of the directory)')
    .option('--checkpoints <folder>', 'where weights are saved', 'learner-checkpoints')
    .option('--max-models <n>', 'models at a time; each has its own weights', wholeNumber, 2)
    .option('--value-head', 'let every model predict returns')
    .option('--expose-gradients', 'let clients read gradients, for conformance')
    .option('--tls-cert <file>', 'PEM certificate, for HTTPS')
    .option('--tls-key <file>', 'PEM key')
    .option('--tls-client-ca <file>', 'PEM authorities; clients need a certificate of one')
    .addHelpText(
      'after',
      `
A client creates a model on the base, whole or with an adapter, and trains it by any loss: it gets
log-probs and gives their gradients. Weights stay here; checkpoints of a run refer to them.

Endpoints, below /api/v1:
  Tinker     create_session, create_model, forward, forward_backward, optim_step, save_weights,
             save_weights_for_sampler, load_weights, create_sampling_session, asample,
             retrieve_future, get_info, unload_model; GET healthz, get_server_capabilities
  saccade/1  forests, backward, blobs/{sha256}, reset_optimizer, publish, checksum

Examples:
  saccade serve learner runs/mine
  saccade train smoke --set model=remote --set model.from=runs/mine/…/policy
  saccade learner check http://127.0.0.1:8760 --from runs/mine/…/policy`,
    )
    .action(async (path: string, flags: ServeLearnerFlags) =>
      (await import('../serve-learner.ts')).serveLearner(path, flags),
    );
}
