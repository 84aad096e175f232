import { type EvidenceStatus, evidenceStatus } from '../core/evidence.ts'
import type { EventEntry, EvidenceSource, History } from '../guard-engine/contract.ts'

export interface ExplainedEvidence {
  readonly command: string
  readonly status: EvidenceStatus
  readonly by: EvidenceSource | null
  readonly at: string | null
  /** Why the last run did not count. */
  readonly rejected: string | null
}

/** Each declared or recorded command, as it stood for the tree the event was about. */
export function explainEvidence(
  { event }: EventEntry,
  { evidence, session }: History,
): readonly ExplainedEvidence[] {
  const tree = event.facts.tree ?? null
  const commands = new Set([
    ...session.declared.map(({ command }) => command),
    ...Object.keys(evidence.byCommand),
    ...Object.keys(evidence.rejected),
  ])
  return [...commands].map((command) => {
    const record = evidence.byCommand[command]
    const wanted = record === undefined || tree === null ? null : { kind: record.kind, treeHash: tree }
    return {
      command,
      status:
        record === undefined
          ? 'missing'
          : wanted === null
            ? record.exitCode === 0
              ? 'stale'
              : 'red'
            : evidenceStatus([record], wanted),
      by: record?.by ?? null,
      at: record?.startedAt ?? null,
      rejected: evidence.rejected[command] ?? null,
    }
  })
}
