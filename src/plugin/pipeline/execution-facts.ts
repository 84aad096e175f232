import { z } from 'zod'
import { modifiedAtMs } from '../../io/directory.ts'
import { readJsonIfExists } from '../../io/files.ts'
import type { Execution } from '../execute/contract.ts'
import type { EvaluationFiles } from './evaluation-files.ts'

const metadataSchema = z.object({
  agent: z.string(),
  agent_version: z.string().nullable(),
  duration_ms: z.number(),
})

export interface ExecutionFacts {
  readonly agent: string
  readonly agentVersion: string | null
  readonly durationMs: number
  /** When a trial began; null when nobody knows. */
  startedAt(execution: Execution): string | null
}

/** What stage 3 said of itself; a run made by another tool may say nothing. */
export function executionFacts(files: EvaluationFiles): ExecutionFacts {
  const read = metadataSchema.safeParse(readJsonIfExists(files.executionMetadata))
  const { agent, agent_version, duration_ms } = read.success
    ? read.data
    : { agent: 'claude-code', agent_version: null, duration_ms: 0 }
  return {
    agent,
    agentVersion: agent_version,
    durationMs: Math.round(duration_ms),
    startedAt: ({ trial, duration_ms: took }) => {
      const madeMs = modifiedAtMs(files.execution(trial.id))
      return madeMs === null ? null : new Date(madeMs - took).toISOString()
    },
  }
}
