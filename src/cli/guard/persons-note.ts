import { resolve } from 'node:path'
import type { PersonsNote } from '../../guard/unlock/unlock.ts'
import type { CliContext } from '../context.ts'

/** What every command that is a person's alone needs: who asks, where, and the project's ledger to write to. */
export async function personsNote(context: CliContext, root: string | undefined): Promise<PersonsNote> {
  const { processTerminal } = await import('../../io/terminal.ts')
  const { findRoot } = await import('../../guard-engine/ledger/ledger-place.ts')
  const { guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
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
