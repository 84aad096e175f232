/** Flags of `gantry plan run`, as commander hands them over. Absent means: the default or the resumed run decides. */
export interface PlanFlags {
  readonly agent?: string
  readonly model?: string
  readonly maxIterations?: number
  readonly maxAttempts?: number
  readonly maxCostUsd?: number
  readonly timeout?: number
  readonly commit?: boolean
  readonly dryRun?: boolean
  readonly resume?: string
  readonly json?: boolean
  readonly config?: string
  readonly root?: string
}
