/** Proof that a command ran: which command, with which result, on which tree. */
export interface Evidence {
  readonly kind: EvidenceKind
  readonly command: string
  readonly exitCode: number
  /** Hash of the working tree the command ran on, from `io/tree-hash`. */
  readonly treeHash: string
  readonly startedAt: string
  readonly durationMs: number
  /** Tests counted in the framework's output, including skipped ones; absent when it does not report them. */
  readonly executed?: number
  readonly skipped?: number
  /** Failed tests in the output, regardless of the exit code. */
  readonly failed?: number
  /** Of a failed run: names of the failed tests in the output, as far as it shows them. */
  readonly failures?: readonly string[]
  /** Files that the runner reports as one test each, because they ended without naming a test. */
  readonly unnamed?: readonly string[]
  /** Of a failed run: equal when the output shows the same error. Absent when it shows none. */
  readonly error?: string
}

/** Tests and lint are separate evidence. Neither replaces the other. */
export type EvidenceKind = 'test' | 'lint' | 'build' | 'other'

export type EvidenceStatus = 'green' | 'red' | 'stale' | 'hollow' | 'missing'

/** Judges one kind of evidence for the current tree. The newest record decides. */
export function evidenceStatus(
  records: readonly Evidence[],
  wanted: { readonly kind: EvidenceKind; readonly treeHash: string },
): EvidenceStatus {
  const newest = records.findLast((record) => record.kind === wanted.kind)
  if (newest === undefined) return 'missing'
  if (newest.treeHash !== wanted.treeHash) return 'stale'
  if (newest.exitCode !== 0 || (newest.failed ?? 0) > 0) return 'red'
  // A run that executed no test, or skipped all, proves nothing.
  if (newest.executed !== undefined && newest.executed <= (newest.skipped ?? 0)) return 'hollow'
  return 'green'
}

/** The failures of a red run that an earlier red run did not have. null when their outputs do not tell. */
export function newFailures(now: Evidence, earlier: Evidence): readonly string[] | null {
  const [names = [], known = []] = [now.failures, earlier.failures]
  if (names.length === 0 || known.length === 0)
    return now.error !== undefined && now.error === earlier.error ? [] : null
  const fresh = names.filter((name) => !known.includes(name))
  // Some failures may be missing in the output.
  const isMore = (now.failed ?? 0) > (earlier.failed ?? known.length)
  return fresh.length === 0 && isMore ? null : fresh
}
