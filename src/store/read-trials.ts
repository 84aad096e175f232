import { GantryError } from '../core/error.ts'
import type { TrialRecord } from '../core/trial.ts'
import { namesIn, readTextIfExists } from '../io/directory.ts'
import { type LineFile, type LineSpan, openLines } from '../io/line-file.ts'
import { plannedIds } from './read-plan.ts'
import { isSafeName, resultPath, runFile, trialPath } from './run-paths.ts'
import { idOfLine, parseTrialRecord, recordHeadBytes } from './trial-record.ts'

/**
 * Finished trials in plan order, then those outside the plan in the order they finished. Keeps the positions of all records but only
 * one record in memory. Reads the log, and the result file of a trial missing there. A damaged result throws GantryError CORRUPT, or
 * is skipped as not finished.
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
export function readTrial(
  runDir: string,
  trialId: string,
  damaged: 'throw' | 'skip' = 'throw',
): TrialRecord | null {
  const record = readStored(runDir, trialId, damaged)
  return record === null ? null : located(record, runDir)
}

/** Every started trial, finished or not, in the order of `readTrials`. */
export function trialIds(runDir: string): string[] {
  const log = openLines(runFile.trialLog(runDir), recordHeadBytes)
  try {
    return [...begunTrials(runDir, log === null ? new Map() : trialSpans(log), 'skip')]
  } finally {
    log?.close()
  }
}

/** The last line of a trial counts. A line with only an id discards the earlier ones. */
export function trialSpans(log: LineFile): Map<string, LineSpan> {
  const spans = new Map<string, LineSpan>()
  for (const { offset, length, head } of log.spans()) {
    const id = idOfLine(head)
    if (id === null) continue
    spans.delete(id)
    if (head.startsWith(`{"id":"${id}","discarded":true`)) continue
    // A copy: a part of a string keeps all of it in memory.
    spans.set(Buffer.from(id, 'latin1').toString('latin1'), { offset, length })
  }
  return spans
}

/** The line that discards a trial's earlier lines. */
export function discardedLine(trialId: string): string {
  return `{"id":"${trialId}","discarded":true}\n`
}

function readLogged(log: LineFile | null, span: LineSpan | undefined, trialId: string): TrialRecord | null {
  return log === null || span === undefined ? null : parseTrialRecord(log.read(span), trialId)
}

function readStored(runDir: string, trialId: string, damaged: 'throw' | 'skip'): TrialRecord | null {
  const path = resultPath(runDir, trialId)
  const text = readTextIfExists(path)
  if (text === null) return null
  const record = parseTrialRecord(text, trialId)
  if (record !== null || damaged === 'skip') return record
  throw new GantryError('CORRUPT', `${path} is damaged`, {
    hint: 'Resume the run to repeat trials without a readable result.',
  })
}

/** Started trials, in order. A trial that was only planned has no directory and costs no disk access. Takes out of `spans` what was read. */
function* begunTrials(
  runDir: string,
  spans: Map<string, LineSpan>,
  damaged: 'throw' | 'skip',
): Generator<string> {
  // A process killed between a result and its line leaves a directory missing in plan and log.
  const unlogged = new Set(namesIn(runFile.trials(runDir)).filter((id) => isSafeName(id) && !spans.has(id)))
  for (const id of plannedIds(runDir, damaged)) {
    if (!spans.has(id) && !unlogged.has(id)) continue
    yield id
    spans.delete(id)
    unlogged.delete(id)
  }
  yield* spans.keys()
  yield* [...unlogged].sort()
}

/** Uses the current path, because a run directory can be moved. */
function located(record: TrialRecord, runDir: string): TrialRecord {
  return { ...record, dir: trialPath(runDir, record.id) }
}
