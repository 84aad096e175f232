import { resolve } from 'node:path'
import { Command } from 'commander'
import type { RunFlag } from '../../store/contract.ts'
import type { CliContext } from '../context.ts'

/** A command that sets or clears a flag of a run. `outcome`: the result, such as `is kept from cleaning`. */
function flagCommand(
  context: CliContext,
  name: string,
  description: string,
  flag: RunFlag,
  on: boolean,
  outcome: string,
): Command {
  const command = new Command(name)
    .description(description)
    .argument('<run>', "a run id, the beginning of one, or 'latest'")
    .option('--json', 'print JSON and nothing else on standard output')
  if (on) command.option('--reason <text>', 'why, as a note for later')
  if (name === 'bless')
    command.option('--to <file>', 'also write its results to a baseline file that can be committed')
  return command.action(
    async (
      wanted: string,
      options: { readonly reason?: string; readonly json?: boolean; readonly to?: string },
    ) => {
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { findRun } = await import('../../store/find-run.ts')
      const { flagRun } = await import('../../store/flag-run.ts')
      const store = openProjectStore(context)
      const runId = findRun(store, wanted)
      if (options.to !== undefined) {
        const { writeBaseline } = await import('../../scenario/open-side.ts')
        await writeBaseline(store, runId, resolve(context.cwd, options.to))
      }
      const { flags } = flagRun(store, runId, flag, on, options.reason)
      context.stdout.write(
        options.json === true
          ? `${JSON.stringify({ run_id: runId, flags })}\n`
          : `${runId} ${outcome}.${options.to === undefined ? '' : ` Its baseline is in ${options.to}.`}\n`,
      )
    },
  )
}

export function flagCommands(context: CliContext): readonly Command[] {
  const bless = 'Make a run the baseline for later runs, and protect it from cleaning.'
  const blessed = "is blessed: '--baseline blessed' means the newest such run"
  const pinned = 'is pinned: it stays until it is unpinned'
  const unpinned = 'is not pinned: it may be removed by cleaning'
  return [
    flagCommand(context, 'pin', 'Protect a run from cleaning.', 'pinned', true, pinned),
    flagCommand(context, 'unpin', 'Undo pin.', 'pinned', false, unpinned),
    flagCommand(context, 'bless', bless, 'blessed', true, blessed),
    flagCommand(context, 'unbless', 'Undo bless.', 'blessed', false, 'is not blessed'),
  ]
}
