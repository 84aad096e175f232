import type { Evidence } from '../core/evidence.ts'
import { defined } from '../core/json-fields.ts'
import type { LimitState, SandboxReport } from '../sandboxes/contract.ts'
import type { EvidenceDocument, SandboxDocument } from './contract.ts'

/** The report of a sandbox as it is in the manifest. */
export function sandboxDocument(report: SandboxReport): SandboxDocument {
  const { engine, engineVersion, limits, shortfalls, ...rest } = report
  const { memoryBytes, cpus, pids, diskBytes } = limits
  return {
    engine,
    engine_version: engineVersion,
    ...rest,
    limits: {
      memory_bytes: limitDocument(memoryBytes),
      cpus: limitDocument(cpus),
      pids: limitDocument(pids),
      disk_bytes: limitDocument(diskBytes),
    },
    shortfalls,
  }
}

function limitDocument(state: LimitState): SandboxDocument['limits']['cpus'] {
  return state.kind === 'applied'
    ? { applied: true, value: state.value }
    : { applied: false, wanted: state.wanted, why: state.why }
}

export function evidenceDocument(evidence: Evidence): EvidenceDocument {
  const { kind, command, exitCode, treeHash, startedAt, durationMs, unnamed, ...rest } = evidence
  const { executed, skipped, failed, failures } = rest
  const ended = { exit_code: exitCode, tree_hash: treeHash, started_at: startedAt, duration_ms: durationMs }
  return { kind, command, ...ended, ...defined({ executed, skipped, failed, failures, unnamed }) }
}

export function evidenceFrom(document: EvidenceDocument): Evidence {
  const { exit_code, tree_hash, started_at, duration_ms, ...rest } = document
  return { ...rest, exitCode: exit_code, treeHash: tree_hash, startedAt: started_at, durationMs: duration_ms }
}
