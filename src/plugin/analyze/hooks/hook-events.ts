import type { HandlerType } from './handler-fields.ts'

/** Facts about a hook event of Claude Code. */
export interface HookEventFacts {
  /** The field of the payload a matcher is compared with; null: a matcher is ignored. `unknown`: not observed yet. */
  readonly matches: string | null
  /** All values the field can have, if all are known. */
  readonly values?: readonly string[]
  /** Handlers may have an `if`; on other events a handler with one never runs. */
  readonly takesCondition: boolean
  readonly takes: readonly HandlerType[]
  /** Accepts `hookSpecificOutput`; on other events it makes the whole answer invalid. */
  readonly takesOutput: boolean
  /** Effect of exit code 2: stops the action, is shown to the model, or is only shown to the user. */
  readonly exitTwo: 'blocks' | 'feedback' | 'shown' | 'ignored'
  /** The first version that knows the event; older ones reject a file that contains it. */
  readonly since?: string
}

const programs: readonly HandlerType[] = ['command', 'mcp_tool']
const services: readonly HandlerType[] = [...programs, 'http']
const all: readonly HandlerType[] = [...services, 'prompt', 'agent']

const plain: HookEventFacts = {
  matches: null,
  takesCondition: false,
  takes: services,
  takesOutput: false,
  exitTwo: 'shown',
}
const tool: HookEventFacts = {
  matches: 'tool_name',
  takesCondition: true,
  takes: all,
  takesOutput: true,
  exitTwo: 'blocks',
}
const compaction = { matches: 'trigger', values: ['manual', 'auto'] } as const
const modelSwitch: HookEventFacts = { ...plain, matches: 'unknown', takesOutput: true, since: '2.1.251' }

/** All events of Claude Code 2.1.325. */
const events: Readonly<Record<string, HookEventFacts>> = {
  SessionStart: {
    ...plain,
    matches: 'source',
    values: ['startup', 'resume', 'clear', 'compact', 'fork'],
    takes: programs,
    takesOutput: true,
  },
  Setup: {
    ...plain,
    matches: 'trigger',
    values: ['init', 'maintenance'],
    takes: programs,
    takesOutput: true,
  },
  SessionEnd: { ...plain, matches: 'reason' },
  InstructionsLoaded: {
    ...plain,
    matches: 'load_reason',
    values: ['session_start', 'nested_traversal', 'path_glob_match', 'include', 'compact'],
    exitTwo: 'ignored',
  },
  ConfigChange: {
    ...plain,
    matches: 'source',
    values: ['user_settings', 'project_settings', 'local_settings', 'policy_settings', 'skills'],
    exitTwo: 'blocks',
  },
  CwdChanged: { ...plain, takesOutput: true },
  DirectoryAdded: { ...plain, matches: 'unknown', since: '2.1.240' },
  FileChanged: { ...plain, matches: 'file_path', takesOutput: true },
  UserPromptSubmit: { ...plain, takes: all, takesOutput: true, exitTwo: 'blocks' },
  UserPromptExpansion: {
    ...plain,
    matches: 'command_name',
    takes: all,
    takesOutput: true,
    exitTwo: 'blocks',
  },
  PreToolUse: tool,
  PermissionRequest: { ...tool, exitTwo: 'ignored' },
  PermissionDenied: { ...tool, exitTwo: 'ignored' },
  PostToolUse: { ...tool, exitTwo: 'feedback' },
  PostToolUseFailure: { ...tool, exitTwo: 'feedback' },
  PostToolBatch: { ...plain, takes: all, takesOutput: true, exitTwo: 'blocks' },
  Stop: { ...plain, takes: all, takesOutput: true, exitTwo: 'blocks' },
  StopFailure: { ...plain, matches: 'error', exitTwo: 'ignored' },
  MessageDisplay: { ...plain, takesOutput: true, exitTwo: 'ignored' },
  Notification: { ...plain, matches: 'notification_type', takesOutput: true, exitTwo: 'ignored' },
  SubagentStart: { ...plain, matches: 'agent_type', takesOutput: true },
  SubagentStop: { ...plain, matches: 'agent_type', takes: all, takesOutput: true, exitTwo: 'blocks' },
  TaskCreated: { ...plain, takes: all, exitTwo: 'blocks' },
  TaskCompleted: { ...plain, takes: all, exitTwo: 'blocks' },
  TeammateIdle: { ...plain, takes: all, exitTwo: 'blocks' },
  PreCompact: { ...plain, ...compaction, exitTwo: 'blocks' },
  PostCompact: { ...plain, ...compaction },
  WorktreeCreate: { ...plain, takesOutput: true, exitTwo: 'blocks' },
  WorktreeRemove: plain,
  Elicitation: { ...plain, matches: 'mcp_server_name', takesOutput: true, exitTwo: 'blocks' },
  ElicitationResult: { ...plain, matches: 'mcp_server_name', takesOutput: true, exitTwo: 'blocks' },
  PreModelSwitch: modelSwitch,
  PostModelSwitch: modelSwitch,
}

export const hookEvents: ReadonlyMap<string, HookEventFacts> = new Map(Object.entries(events))
