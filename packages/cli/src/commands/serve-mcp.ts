/** The options of `saccade serve mcp`. */
import type { ServeMcpFlags } from '../serve-mcp.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addListenOptions } from './listen-options.ts';
import { addSetting } from './options.ts';

export function addServeMcp(serve: LazyCommand): void {
  const command = serve
    .command('mcp')
    .description('Serve tools to any MCP client, images as MCP image content.');
  addListenOptions(command, { port: 8730, tokenVariable: 'SACCADE_MCP_TOKEN' })
    .option('--stdio', 'speak over stdin and stdout, for a client that starts this command')
    .option('--tools <names>', 'the tools, with commas (default: those for one image each)')
    .option(
      '--set <field=value>',
      'a setting of a tool, as in a run; may be repeated',
      addSetting,
      [],
    )
    .option('--images <folder>', 'clients may name image files below this folder by their paths')
    .option('--max-sessions <n>', 'clients at a time', wholeNumber, 256)
    .option('--idle-seconds <n>', 'unused sessions are closed after', wholeNumber, 600)
    .addHelpText(
      'after',
      `
Clients add images with the tool add_image; the others name them by their index. Over HTTP the
address is /mcp.

Examples:
  saccade serve mcp --stdio --images .
  saccade serve mcp --tools image_zoom_in_tool,image_rotate_tool
  SACCADE_MCP_TOKEN=$(openssl rand -hex 32) saccade serve mcp --host 0.0.0.0`,
    )
    .action(async (flags: ServeMcpFlags) => (await import('../serve-mcp.ts')).serveMcp(flags));
}
