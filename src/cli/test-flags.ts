import type { ReplayMode } from '../models/boundary/model-link.ts'
import type { JudgeBatchMode } from '../scenario/judge-batch.ts'

/** Flags of `gantry test`, as commander hands them over. Absent means: the file or the default decides. */
export interface TestFlags {
  readonly scenario?: string[]
  readonly agent?: string[]
  readonly model?: string[]
  readonly profile?: string
  readonly targetBinary?: string
  readonly config?: string
  readonly filter?: string[]
  readonly tag?: string[]
  readonly allTags?: boolean
  readonly tier?: number
  readonly shard?: string
  readonly repeat?: number
  readonly concurrency?: number
  readonly timeout?: number
  readonly judge: boolean
  readonly judgeModel?: string
  readonly judgeBatch?: JudgeBatchMode
  readonly cache: boolean
  readonly replay?: ReplayMode
  readonly cassettes?: string
  readonly fault?: string[]
  readonly maxCostUsd?: number
  readonly maxTime?: number
  readonly maxPause?: number
  readonly infraRetries?: number
  readonly maxInfraRate?: number
  readonly threshold?: number
  readonly strict?: boolean
  readonly baseline?: string
  readonly seed?: number
  readonly plan?: boolean
  readonly dryRun?: boolean
  readonly resume?: string
  readonly rerunFailed?: string | boolean
  readonly watch?: boolean
  readonly json?: boolean
  readonly reporter?: string[]
}
