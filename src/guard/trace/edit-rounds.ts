import { cappedMap } from './capped-map.ts'
import type { TraceCall } from './read-record.ts'

const maxFiles = 20_000
/** Rounds with more edits count as this many for percentiles. */
const maxRoundEdits = 500
/** Minimum number of rounds for a suggestion. */
const minRounds = 5
const leastThreshold = 3

interface FileEdits {
  edits: number
  most: number
  /** Edits since the last green test run. */
  open: number
}

/** Counts edits per file, and edits per file until tests were green. A threshold should be above that. */
export function countEditRounds(editThreshold: number) {
  const files = cappedMap(
    maxFiles,
    (): FileEdits => ({ edits: 0, most: 0, open: 0 }),
    ({ edits }) => edits,
  )
  let pending: FileEdits[] = []
  const rounds = new Float64Array(maxRoundEdits + 1)
  let roundCount = 0

  const percentile = (share: number): number | null => {
    if (roundCount === 0) return null
    let seen = 0
    const at = rounds.findIndex((count) => {
      seen += count
      return seen >= Math.ceil(share * roundCount)
    })
    return at
  }

  return {
    /** `green`: the call is a test run that passed. */
    add: ({ edits, result }: TraceCall, green: boolean): void => {
      if (green) {
        for (const file of pending) {
          const at = Math.min(file.open, maxRoundEdits)
          rounds[at] = (rounds[at] ?? 0) + 1
          roundCount += 1
          file.open = 0
        }
        pending = []
      }
      if (result === 'failure' || result === 'denied') return
      for (const path of edits) {
        const file = files.at(path)
        if (file.open === 0 && pending.length < maxFiles) pending.push(file)
        file.open += 1
        file.edits += 1
        file.most = Math.max(file.most, file.open)
      }
    },
    unverified: (): number => pending.length,
    finish: (shown: number) => {
      const all = files.entries().toSorted(([, a], [, b]) => b.edits - a.edits)
      const p95 = percentile(0.95)
      return {
        hotFiles: all.slice(0, shown).map(([path, { edits, most }]) => ({
          path,
          edits,
          most_before_green: most,
          potential_loop: edits >= editThreshold,
        })),
        loops: {
          edit_threshold: editThreshold,
          files: all.filter(([, { edits }]) => edits >= editThreshold).length,
          edits_until_green: { rounds: roundCount, median: percentile(0.5), p95 },
          suggested_threshold:
            p95 === null || roundCount < minRounds ? null : Math.max(leastThreshold, p95 + 1),
        },
        dropped: files.dropped(),
      }
    },
  }
}
