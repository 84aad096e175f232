import type { Settings } from '../../rules/contract.ts'
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
