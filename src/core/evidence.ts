/** Proof that a command ran: what, with which end, on exactly which tree. */
export interface Evidence {
  readonly kind: EvidenceKind
  readonly command: string
  readonly exitCode: number
  /** Hash of the working tree the command ran on, from `io/tree-hash`. */
  readonly treeHash: string
  readonly startedAt: string
  readonly durationMs: number
  /** Tests the framework's own output counted, the skipped ones among them; absent when it does not say. */
  readonly executed?: number
  readonly skipped?: number
  /** Tests the output shows as failed, whatever the exit code says. */
  readonly failed?: number
}

/** Tests and lint are separate evidence: one never stands for the other. */
export type EvidenceKind = 'test' | 'lint' | 'build' | 'other'

export type EvidenceStatus = 'green' | 'red' | 'stale' | 'hollow' | 'missing'

/** Judges one kind of evidence for the tree as it is now; the newest record decides. */
export function evidenceStatus(
  records: readonly Evidence[],
  wanted: { readonly kind: EvidenceKind; readonly treeHash: string },
): EvidenceStatus {
  const newest = records.findLast((record) => record.kind === wanted.kind)
  if (newest === undefined) return 'missing'
  if (newest.treeHash !== wanted.treeHash) return 'stale'
  if (newest.exitCode !== 0 || (newest.failed ?? 0) > 0) return 'red'
  // A run in which nothing was executed, or everything skipped, proves nothing.
  if (newest.executed !== undefined && newest.executed <= (newest.skipped ?? 0)) return 'hollow'
  return 'green'
}
