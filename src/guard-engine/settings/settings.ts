import { type SettingPath, type SettingValues, settingTable } from './setting-table.ts'

/** Converts the values from their keys in the file to the form the rules use. */
export function settingsOf(given: Partial<SettingValues>) {
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
      documentation: value('middleware.pre_completion_checklist.documentation'),
      tdd: value('middleware.pre_completion_checklist.tdd'),
      maxRefusals: value('middleware.pre_completion_checklist.max_refusals'),
      verify: value('middleware.pre_completion_checklist.run_at_stop')
        ? ('self' as const)
        : value('completion.verify'),
      verificationTimeoutSeconds: value('middleware.pre_completion_checklist.verification_timeout_seconds'),
    },
    fileProtection: {
      enabled: value('middleware.file_protection.enabled'),
      protectedPatterns: [
        ...new Set([...value('middleware.file_protection.protected_patterns'), ...alwaysProtected]),
      ],
      enforcement: value('middleware.file_protection.enforcement'),
      restore: value('middleware.file_protection.restore'),
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
  } as const
}

/** Private keys stay protected, whatever list is configured. */
const alwaysProtected = ['id_rsa*']

const initials: { readonly [Path in SettingPath]: { readonly initial: SettingValues[Path] } } = settingTable

export const defaultSettings: Settings = settingsOf({})

/** harness.json, with the defaults and the overrides of the environment applied. `setting-table.ts` describes each value. */
export type Settings = ReturnType<typeof settingsOf>
