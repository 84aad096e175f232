import { resolve } from 'node:path'
import { Command } from 'commander'
import { counted } from '../../core/counted.ts'
import type { PersonRequest } from '../../guard/unlock/unlock.ts'
import type { CliContext } from '../context.ts'
import { duration } from '../flag-values.ts'

// Commands that only a person may run, never an agent: unlock, lock, seal, waive and seen.

export function unlockCommand(context: CliContext): Command {
  return new Command('unlock')
    .description("Let agents change the guard's own files for a while. Asks for confirmation at a terminal.")
    .option('--for <duration>', 'how long, at most 1h (default: 10m)', duration)
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly for?: number; readonly root?: string }) => {
      const { unlock } = await import('../../guard/unlock/unlock.ts')
      const request = await personsNote(context, flags.root)
      const { untilMs } = await unlock(flags.for === undefined ? request : { ...request, forMs: flags.for })
      context.stdout.write(
        `Unlocked until ${new Date(untilMs).toISOString()}. 'gantry guard lock' ends it sooner; 'gantry guard seal' accepts the files as they are then.\n`,
      )
    })
}

export function lockCommand(context: CliContext): Command {
  return new Command('lock')
    .description("End an unlock: the guard's own files are protected again.")
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly root?: string }) => {
      const { lock } = await import('../../guard/unlock/unlock.ts')
      const { append, root } = await personsNote(context, flags.root)
      lock({ append, by: context.env.USER ?? 'unknown user' })
      context.stdout.write(`The guard's own files in ${root} are protected again.\n`)
    })
}

export function sealCommand(context: CliContext): Command {
  return new Command('seal')
    .description('Accept the current files that configure the guard. Asks for confirmation at a terminal.')
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly root?: string }) => {
      const { guardLocation } = await import('../../guard-install/guard-location.ts')
      const { reseal } = await import('../../guard/unlock/unlock.ts')
      const { guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
      const { currentSeal } = await import('../../guard-engine/seal/seal-files.ts')
      const { sealedPaths } = await import('../../guard-engine/seal/guarded-paths.ts')
      const request = await personsNote(context, flags.root)
      const { changed } = await reseal({
        ...request,
        guardHome: guardHome(context.env),
        paths: sealedPaths(guardLocation(request.root, context.env)),
        sealed: currentSeal(guardHome(context.env), request.root),
      })
      context.stdout.write(
        `Sealed${changed.length === 0 ? '' : `, ${counted(changed.length, 'changed file')} accepted`}.\n`,
      )
    })
}

export function waiveCommand(context: CliContext): Command {
  return new Command('waive')
    .description('Accept the current files as done without evidence. Asks for confirmation at a terminal.')
    .requiredOption('--reason <text>', 'why; recorded in the ledger')
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly reason: string; readonly root?: string }) => {
      const { waive } = await import('../../guard/unlock/unlock.ts')
      const { treeNow } = await import('../../guard-engine/facts/tree-now.ts')
      const request = await personsNote(context, flags.root)
      const fingerprint = (): Promise<string> => treeNow(request.root, context.env)
      const { tree } = await waive({ ...request, reason: flags.reason, fingerprint })
      context.stdout.write(`Waived for tree ${tree.slice(0, 12)}. Any change of a file ends the waiver.\n`)
    })
}

export function seenCommand(context: CliContext): Command {
  return new Command('seen')
    .description(
      'Show the protected files that changed, and let agents end their work. Asks for confirmation at a terminal.',
    )
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly root?: string }) => {
      const { acknowledge, unseenChanges } = await import('../../guard/unlock/unlock.ts')
      const { guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
      const request = await personsNote(context, flags.root)
      const changes = unseenChanges(guardHome(context.env), request.root)
      if (changes.length === 0) {
        context.stdout.write(`No protected file in ${request.root} has a change that is still to be seen.\n`)
        return
      }
      await acknowledge({ ...request, changes })
      context.stdout.write(`${counted(changes.length, 'change')} seen. Agents may end their work again.\n`)
    })
}

async function personsNote(context: CliContext, root: string | undefined): Promise<PersonRequest> {
  const { processTerminal } = await import('../../io/terminal.ts')
  const { findRoot, guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
  const { appendNote } = await import('../../guard-engine/ledger/open-ledger.ts')
  const project = root === undefined ? findRoot(context.cwd) : findRoot(resolve(context.cwd, root))
  return {
    terminal: processTerminal(),
    env: context.env,
    pid: process.pid,
    signal: context.signal,
    root: project,
    nowMs: Date.now(),
    append: (note) => {
      appendNote({ guardHome: guardHome(context.env), root: project, note, nowMs: Date.now() })
    },
  }
}
