import { GantryError } from '../core/error.ts'
import type { TrialRecord } from '../core/trial.ts'
import { namesIn, readTextIfExists } from '../io/directory.ts'
import { type LineFile, type LineSpan, openLines } from '../io/line-file.ts'
import { plannedIds } from './read-plan.ts'
import { isSafeName, resultPath, runFile, trialPath } from './run-paths.ts'
import { idOfLine, parseRecord, recordHeadBytes } from './trial-record.ts'

/**
 * Finished trials in plan order, then those outside the plan in the order they finished. Memory holds where each record
 * lies and one record at a time. The log is the quick way; a trial it lacks is read from its own file. A damaged result
 * throws GantryError CORRUPT, or is passed over as a trial that is not finished.
 */
export function* readTrials(runDir: string, damaged: 'throw' | 'skip' = 'throw'): Generator<TrialRecord> {
  const log = openLines(runFile.trialLog(runDir), recordHeadBytes)
  try {
    const spans = log === null ? new Map<string, LineSpan>() : trialSpans(log)
    for (const trialId of begunTrials(runDir, spans, damaged)) {
      const record = readLogged(log, spans.get(trialId), trialId) ?? readStored(runDir, trialId, damaged)
      if (record !== null) yield located(record, runDir)
    }
  } finally {
    log?.close()
  }
}

/** The record of one trial; null when it is not finished. */
export function readTrial(runDir: string, trialId: string): TrialRecord | null {
  const record = readStored(runDir, trialId, 'throw')
  return record === null ? null : located(record, runDir)
}

/** Every trial that was begun, finished or not, in the order of `readTrials`. */
export function trialIds(runDir: string): string[] {
  const log = openLines(runFile.trialLog(runDir), recordHeadBytes)
  try {
    return [...begunTrials(runDir, log === null ? new Map() : trialSpans(log), 'skip')]
  } finally {
    log?.close()
  }
}

/** The last line of a trial counts. A line without a record after the id takes the earlier ones back. */
export function trialSpans(log: LineFile): Map<string, LineSpan> {
  const spans = new Map<string, LineSpan>()
  for (const { offset, length, head } of log.spans()) {
    const id = idOfLine(head)
    if (id === null) continue
    spans.delete(id)
    if (!isDiscarded(head, id)) spans.set(id, { offset, length })
  }
  return spans
}

/** The line that takes a trial's earlier lines back. */
export function discardedLine(trialId: string): string {
  return `{"id":"${trialId}","discarded":true}\n`
}

function isDiscarded(head: string, id: string): boolean {
  return head.startsWith(`{"id":"${id}","discarded":true`)
}

function readLogged(log: LineFile | null, span: LineSpan | undefined, trialId: string): TrialRecord | null {
  return log === null || span === undefined ? null : parseRecord(log.read(span), trialId)
}

function readStored(runDir: string, trialId: string, damaged: 'throw' | 'skip'): TrialRecord | null {
  const path = resultPath(runDir, trialId)
  const text = readTextIfExists(path)
  if (text === null) return null
  const record = parseRecord(text, trialId)
  if (record !== null || damaged === 'skip') return record
  throw new GantryError('CORRUPT', `${path} is damaged`, {
    hint: 'Resume the run: a trial without a readable result is made again.',
  })
}

/** Trials that were begun, in order. One that was only planned has no directory, and costs no look at the disk. */
function begunTrials(
  runDir: string,
  spans: ReadonlyMap<string, LineSpan>,
  damaged: 'throw' | 'skip',
): Set<string> {
  // Whoever was killed between a result and its line left a directory that neither plan nor log may know.
  const directories = new Set(namesIn(runFile.trials(runDir)).sort())
  const planned = plannedIds(runDir, damaged).filter((id) => spans.has(id) || directories.has(id))
  return new Set([...planned, ...spans.keys(), ...[...directories].filter(isSafeName)])
}

/** A run directory can be moved: what it holds lies where it lies now. */
function located(record: TrialRecord, runDir: string): TrialRecord {
  return { ...record, dir: trialPath(runDir, record.id) }
}
