import { Command } from 'commander'
import type { RunFlag } from '../../store/contract.ts'
import type { CliContext } from '../context.ts'

export interface FlagCommand {
  readonly name: string
  readonly description: string
  readonly flag: RunFlag
  readonly on: boolean
  /** `is kept from cleaning`: what is true of the run afterwards. */
  readonly outcome: string
}

/** A command that sets a flag of a run or takes it back. */
export function flagCommand(
  context: CliContext,
  { name, description, flag, on, outcome }: FlagCommand,
): Command {
  const command = new Command(name)
    .description(description)
    .argument('<run>', "a run id, the beginning of one, or 'latest'")
    .option('--json', 'print JSON and nothing else on standard output')
  if (on) command.option('--reason <text>', 'why, as a note for later')
  return command.action(
    async (wanted: string, options: { readonly reason?: string; readonly json?: boolean }) => {
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { findRun } = await import('../../store/find-run.ts')
      const { flagRun } = await import('../../store/flag-run.ts')
      const store = openProjectStore(context)
      const runId = findRun(store, wanted)
      const { flags } = flagRun(store, runId, flag, on, options.reason)
      context.stdout.write(
        options.json === true ? `${JSON.stringify({ run_id: runId, flags })}\n` : `${runId} ${outcome}.\n`,
      )
    },
  )
}

export function blessCommand(context: CliContext): Command {
  return flagCommand(context, {
    name: 'bless',
    description: 'Make a run the baseline for later runs, and protect it from cleaning.',
    flag: 'blessed',
    on: true,
    outcome: "is blessed: '--baseline blessed' means the newest such run",
  })
}

export function unblessCommand(context: CliContext): Command {
  return flagCommand(context, {
    name: 'unbless',
    description: 'Undo bless.',
    flag: 'blessed',
    on: false,
    outcome: 'is not blessed',
  })
}

export function pinCommand(context: CliContext): Command {
  return flagCommand(context, {
    name: 'pin',
    description: 'Protect a run from cleaning.',
    flag: 'pinned',
    on: true,
    outcome: 'is pinned: it stays until it is unpinned',
  })
}

export function unpinCommand(context: CliContext): Command {
  return flagCommand(context, {
    name: 'unpin',
    description: 'Undo pin.',
    flag: 'pinned',
    on: false,
    outcome: 'is not pinned: it is cleaned when its time comes',
  })
}
