import type { Evidence } from '../core/evidence.ts'
import type { LimitState, SandboxReport } from '../sandboxes/contract.ts'
import type { EvidenceDocument, SandboxDocument } from './contract.ts'

/** The report of a sandbox as the manifest has it. */
export function sandboxDocument(report: SandboxReport): SandboxDocument {
  const { engine, engineVersion, image, sandboxed, user, network, workspace, limits, shortfalls } = report
  return {
    engine,
    engine_version: engineVersion,
    image,
    sandboxed,
    user,
    network,
    workspace,
    limits: {
      memory_bytes: limitDocument(limits.memoryBytes),
      cpus: limitDocument(limits.cpus),
      pids: limitDocument(limits.pids),
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
  const { kind, command, exitCode, treeHash, startedAt, durationMs, executed, skipped, failed } = evidence
  return {
    kind,
    command,
    exit_code: exitCode,
    tree_hash: treeHash,
    started_at: startedAt,
    duration_ms: durationMs,
    ...(executed !== undefined && { executed }),
    ...(skipped !== undefined && { skipped }),
    ...(failed !== undefined && { failed }),
  }
}

export function evidenceFrom(document: EvidenceDocument): Evidence {
  const { exit_code, tree_hash, started_at, duration_ms, ...rest } = document
  return { ...rest, exitCode: exit_code, treeHash: tree_hash, startedAt: started_at, durationMs: duration_ms }
}
