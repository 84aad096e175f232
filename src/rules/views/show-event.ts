import { GantryError } from '../../core/error.ts'
import type { DecisionEntry, EventEntry, Settings } from '../contract.ts'
import type { Ledger } from '../ledger/open-ledger.ts'
import { appendTrace } from '../trace/append-trace.ts'
import { traceRecord } from '../trace/trace-record.ts'
import { viewsDirectory } from './views-directory.ts'
import { writeViews } from './write-views.ts'

export interface ShownEvent {
  readonly root: string
  readonly settings: Settings
  readonly ledger: Ledger
  readonly entry: EventEntry
  readonly decision: DecisionEntry
}

/**
 * Brings the files for people up to date. They decide nothing, so a project that cannot be written to is no reason to keep an
 * agent from reading it: what is wrong comes back as a sentence, null when nothing is.
 */
export function showEvent({ root, settings, ledger, entry, decision }: ShownEvent): string | null {
  try {
    const dir = viewsDirectory(root, settings.state.dir)
    // A call that is about to begin changes nothing in them.
    if (entry.event.kind === 'tool_before' && decision.notes.length === 0) ledger.advance()
    else writeViews(dir, ledger, settings)
    const record = traceRecord(entry, decision, settings.traceLogging)
    if (record !== null) appendTrace({ dir, record, maxLogSizeMb: settings.traceLogging.maxLogSizeMb })
    return null
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    // The ledger itself must have been read to its end whatever became of the views.
    ledger.advance()
    return `The views of the guard are not up to date: ${error.message}.`
  }
}
