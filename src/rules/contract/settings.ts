/** harness.json, with the environment's overrides and defaults applied. Keys in the file are the documented ones. */
export interface Settings {
  readonly version: string
  readonly contextInjection: {
    readonly enabled: boolean
    readonly injectDirTree: boolean
    readonly injectTools: boolean
    readonly maxTreeDepth: number
    readonly timeBudgetSeconds: number
  }
  readonly loopDetection: {
    readonly enabled: boolean
    readonly editThreshold: number
    readonly resetOnNewTask: boolean
    /** How often the same failing call, cycle or error makes a loop. */
    readonly repeatThreshold: number
  }
  readonly checklist: {
    readonly enabled: boolean
    readonly requireVerification: boolean
    readonly requireTestsPass: boolean
    readonly requirePlanCheck: boolean
    readonly verificationCommands: readonly string[]
    /** Refusals per prompt before the end is `CAPPED`. */
    readonly maxRefusals: number
    /** The gate runs the declared commands itself. */
    readonly runAtStop: boolean
    readonly verificationTimeoutSeconds: number
  }
  readonly fileProtection: {
    readonly enabled: boolean
    readonly protectedPatterns: readonly string[]
  }
  /** Where tools may write. */
  readonly boundary: {
    readonly enabled: boolean
    /** Absolute; empty for the project the guard sees. */
    readonly root: string
    /** Relative to the root; empty for all of it. */
    readonly package: string
    /** Absolute directories that may be written besides. */
    readonly also: readonly string[]
    /** Relative to the root: what stays as it is. */
    readonly refused: readonly string[]
    /** `read`: no command of git that moves refs, the index or the stash. */
    readonly git: 'all' | 'read'
  }
  readonly traceLogging: {
    readonly enabled: boolean
    readonly logToolCalls: boolean
    readonly logFileEdits: boolean
    readonly maxLogSizeMb: number
  }
  readonly state: { readonly format: 'json'; readonly dir: string }
}
