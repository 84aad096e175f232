import { openAppendLog } from '../io/append-log.ts'
import { moveIfExists, namesIn, readTextIfExists } from '../io/directory.ts'
import { openLines } from '../io/line-file.ts'
import { discardedLine, trialSpans } from './read-trials.ts'
import { isSafeName, resultPath, runFile } from './run-paths.ts'
import { parseRecord, recordHeadBytes, serializeRecord } from './trial-record.ts'

/**
 * Brings the log of a run in line with the results on disk, which are the truth: adds what a killed process had no time
 * to log, takes back what has no whole result. A damaged result is put aside, so that its trial is plainly not finished.
 */
export function repairTrialLog(runDir: string): void {
  const repairs = findRepairs(runDir)
  if (repairs.length === 0) return
  const log = openAppendLog(runFile.trialLog(runDir))
  try {
    log.append(repairs.join(''))
  } finally {
    log.close()
  }
}

function findRepairs(runDir: string): string[] {
  const log = openLines(runFile.trialLog(runDir), recordHeadBytes)
  try {
    const spans = log === null ? new Map() : trialSpans(log)
    const logged = (trialId: string): string | null => {
      const span = spans.get(trialId)
      return log === null || span === undefined ? null : `${log.read(span)}\n`
    }
    const repairs: string[] = []
    for (const trialId of namesIn(runFile.trials(runDir)).sort()) {
      if (!isSafeName(trialId)) continue
      const line = storedLine(runDir, trialId)
      if (line === null) continue
      if (line !== logged(trialId)) repairs.push(line)
      spans.delete(trialId)
    }
    return [...repairs, ...Array.from(spans.keys(), discardedLine)]
  } finally {
    log?.close()
  }
}

function storedLine(runDir: string, trialId: string): string | null {
  const path = resultPath(runDir, trialId)
  const text = readTextIfExists(path)
  if (text === null) return null
  const record = parseRecord(text, trialId)
  if (record !== null) return serializeRecord(record)
  moveIfExists(path, `${path}.damaged`)
  return null
}
