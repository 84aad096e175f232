import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { repeated } from '../flag-values.ts'
import type { ProveFlags } from './run-prove.ts'

export function proveCommand(context: CliContext): Command {
  return new Command('prove')
    .description(
      'Show in the real agent that each gate of the guard fires. A script answers for the model: no key, no network.',
    )
    .option(
      '--agent <name>',
      'an agent with hooks, or one of gantry.yaml; repeatable (default: where the guard is installed, else all on the PATH)',
      repeated,
    )
    .option(
      '--root <dir>',
      'the project whose installation is compared (default: the one around the working directory)',
    )
    .option('--json', 'print JSON and nothing else on standard output')
    .option('--keep', 'keep the scratch projects, and say where they are')
    .addHelpText(
      'after',
      `
Everything happens in scratch projects with a home of their own, and the hooks that 'gantry guard install' writes.
Exit code 1 when a gate that the agent could enforce does not fire, or another guard is installed than the one that was
proven; 3 when an agent cannot be run.`,
    )
    .action(async (flags: ProveFlags) => {
      const { runProve } = await import('./run-prove.ts')
      await runProve(context, flags)
    })
}
