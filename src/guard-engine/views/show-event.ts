import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import type { DecisionEntry, EventEntry } from '../contract.ts'
import type { GuardLedger } from '../ledger/open-ledger.ts'
import type { Settings } from '../settings/settings.ts'
import { isOwnTrace, stateDirectory, viewFiles, viewsProblem } from './state-directory.ts'
import { appendTrace, traceRecord } from './trace-log.ts'
import { writeViews } from './write-views.ts'

export interface ShownEvent {
  readonly root: string
  readonly settings: Settings
  readonly ledger: GuardLedger
  readonly entry: EventEntry
  readonly decision: DecisionEntry
}

/**
 * Brings the files for people up to date. They decide nothing, so a project that cannot be written to is no reason to keep an
 * agent from reading it: what is wrong comes back as a sentence, null when nothing is.
 */
export function showEvent(shown: ShownEvent): string | null {
  const { root, settings, ledger, entry } = shown
  const isStart = entry.event.kind === 'session_start'
  try {
    // Before anything is written: said once a session, because it stays so until somebody does something about it.
    const problem = isStart ? viewsProblem(root, settings.state.dir) : null
    const where = stateDirectory(root, settings.state.dir)
    if (where.kind === 'refused') ledger.advance()
    else writeAll(where.path, shown)
    return problem
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    // The ledger itself must have been read to its end whatever became of the views.
    ledger.advance()
    return `The views of the guard are not up to date: ${error.message}.`
  }
}

function writeAll(directory: string, { settings, ledger, entry, decision }: ShownEvent): void {
  const { event } = entry
  // A call that is about to begin changes nothing in them.
  if (event.kind === 'tool_before' && decision.notes.length === 0) ledger.advance()
  else writeViews({ directory, ledger, settings, mayCount: mayCount(entry) })
  const record = traceRecord(entry, decision, settings.traceLogging)
  if (record === null || isOwnTrace(join(directory, viewFiles.trace)) === false) return
  appendTrace({ dir: directory, record, maxLogSizeMb: settings.traceLogging.maxLogSizeMb })
}

/** An edit, a look at the plan, or an event at which somebody looks; most calls are neither. */
function mayCount({ event }: EventEntry): boolean {
  if (event.kind !== 'tool_after' && event.kind !== 'tool_before') return true
  const action = event.call?.action
  const isEdit = action === 'write' || action === 'edit' || action === 'patch'
  return (isEdit && event.kind === 'tool_after') || event.facts.project !== undefined
}
