import { type SettingPath, type SettingValues, settingTable } from './setting-table.ts'

/** The values by their keys in the file, as the rules know them. */
export function settingsOf(given: Partial<SettingValues>): Settings {
  const value = <Path extends SettingPath>(path: Path): SettingValues[Path] =>
    given[path] ?? initials[path].initial
  return {
    version: value('version'),
    contextInjection: {
      enabled: value('middleware.context_injection.enabled'),
      injectDirTree: value('middleware.context_injection.inject_dir_tree'),
      injectTools: value('middleware.context_injection.inject_tools'),
      maxTreeDepth: value('middleware.context_injection.max_tree_depth'),
      timeBudgetSeconds: value('middleware.context_injection.time_budget_seconds'),
    },
    loopDetection: {
      enabled: value('middleware.loop_detection.enabled'),
      editThreshold: value('middleware.loop_detection.edit_threshold'),
      resetOnNewTask: value('middleware.loop_detection.reset_on_new_task'),
      repeatThreshold: value('middleware.loop_detection.repeat_threshold'),
    },
    checklist: {
      enabled: value('middleware.pre_completion_checklist.enabled'),
      requireVerification: value('middleware.pre_completion_checklist.require_verification'),
      requireTestsPass: value('middleware.pre_completion_checklist.require_tests_pass'),
      requirePlanCheck: value('middleware.pre_completion_checklist.require_plan_check'),
      verificationCommands: value('middleware.pre_completion_checklist.verification_commands'),
      maxRefusals: value('middleware.pre_completion_checklist.max_refusals'),
      runAtStop: value('middleware.pre_completion_checklist.run_at_stop'),
      verificationTimeoutSeconds: value('middleware.pre_completion_checklist.verification_timeout_seconds'),
    },
    fileProtection: {
      enabled: value('middleware.file_protection.enabled'),
      protectedPatterns: value('middleware.file_protection.protected_patterns'),
    },
    boundary: {
      enabled: value('boundary.enabled'),
      root: value('boundary.root'),
      package: value('boundary.package'),
      also: value('boundary.also'),
      refused: value('boundary.refused'),
      git: value('boundary.git'),
    },
    traceLogging: {
      enabled: value('middleware.trace_logging.enabled'),
      logToolCalls: value('middleware.trace_logging.log_tool_calls'),
      logFileEdits: value('middleware.trace_logging.log_file_edits'),
      maxLogSizeMb: value('middleware.trace_logging.max_log_size_mb'),
    },
    state: { format: value('state.format'), dir: value('state.dir') },
  }
}

const initials: { readonly [Path in SettingPath]: { readonly initial: SettingValues[Path] } } = settingTable

export const defaultSettings: Settings = settingsOf({})

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
