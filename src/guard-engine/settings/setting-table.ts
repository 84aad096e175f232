/** Relative, and with no `..` in it; what may follow is still to be said. */
const inside = String.raw`^(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\x00-\x1f\x7f]`

/**
 * Every key of harness.json, which are also the keys of `guard` in gantry.yaml: the reader, the schema and the documentation
 * are made from this table and from nothing else.
 */
export const settingTable = {
  version: {
    ...text('1.0.0', 'Version of the settings. This guard reads version 1; another one is refused.'),
    pattern: String.raw`^1(\.\d+){0,2}$`,
  },

  'middleware.context_injection.enabled': flag(
    true,
    'Tell the agent about the project when a session starts.',
    'HARNESS_CONTEXT_ENABLED',
  ),
  'middleware.context_injection.inject_dir_tree': flag(true, 'Tell it the directory tree.'),
  'middleware.context_injection.inject_tools': flag(
    true,
    'Tell it the verification commands and which toolchains the project uses.',
  ),
  'middleware.context_injection.max_tree_depth': whole(
    3,
    { min: 1, max: 32 },
    'How many levels of the tree are told, at most 100 entries in all.',
    'HARNESS_MAX_TREE_DEPTH',
  ),
  'middleware.context_injection.time_budget_seconds': amount(
    0,
    { min: 0 },
    'How long a session should take, told to the agent. 0: no budget.',
    'HARNESS_TIME_BUDGET',
  ),

  'middleware.loop_detection.enabled': flag(
    true,
    'Warn an agent that repeats itself.',
    'HARNESS_LOOP_ENABLED',
  ),
  'middleware.loop_detection.edit_threshold': whole(
    5,
    { min: 1 },
    'Edits of one file from which on a loop is suspected.',
    'HARNESS_LOOP_THRESHOLD',
  ),
  'middleware.loop_detection.reset_on_new_task': flag(true, 'Count edits anew for every task of the plan.'),
  'middleware.loop_detection.repeat_threshold': whole(
    3,
    { min: 2 },
    'How often the same failing call, the same cycle or the same error makes a loop.',
  ),

  'middleware.pre_completion_checklist.enabled': flag(
    true,
    'Refuse to let an agent stop before its work is verified.',
    'HARNESS_CHECKLIST_ENABLED',
  ),
  'middleware.pre_completion_checklist.require_verification': flag(
    true,
    'Refuse while a verification command has not run on the tree as it is.',
    'HARNESS_REQUIRE_VERIFICATION',
  ),
  'middleware.pre_completion_checklist.require_tests_pass': flag(
    true,
    'Refuse while a verification command failed on the tree as it is.',
    'HARNESS_REQUIRE_TESTS_PASS',
  ),
  'middleware.pre_completion_checklist.require_plan_check': flag(
    true,
    'Refuse while IMPLEMENTATION_PLAN.md has open tasks.',
    'HARNESS_REQUIRE_PLAN_CHECK',
  ),
  'middleware.pre_completion_checklist.verification_commands': texts(
    [],
    'Commands whose success verifies the project, besides those that are found in it.',
    'HARNESS_VERIFICATION_COMMANDS',
  ),
  'middleware.pre_completion_checklist.max_refusals': whole(
    5,
    { min: 1, max: 100 },
    'Refusals to stop per prompt; then the agent may stop and the end is CAPPED.',
  ),
  'middleware.pre_completion_checklist.run_at_stop': flag(
    false,
    'Run the verification commands at the stop instead of trusting that the agent ran them.',
  ),
  'middleware.pre_completion_checklist.verification_timeout_seconds': amount(
    300,
    { min: 1, max: 86_400 },
    'How long one verification command may take when the guard runs it.',
  ),

  'middleware.file_protection.enabled': flag(
    true,
    'Refuse changes of protected files, whatever the tool.',
    'HARNESS_PROTECTION_ENABLED',
  ),
  'middleware.file_protection.protected_patterns': texts(
    ['.env', '.env.*', '*.pem', '*.key', 'credentials.*', 'id_rsa*'],
    'Globs of protected files: by name, or by path below the project when there is a slash in it.',
  ),

  'middleware.trace_logging.enabled': flag(true, 'Keep a log of the tool calls.', 'HARNESS_TRACE_ENABLED'),
  'middleware.trace_logging.log_tool_calls': flag(true, 'Log calls that edit no file.'),
  'middleware.trace_logging.log_file_edits': flag(true, 'Log calls that edit files.'),
  'middleware.trace_logging.max_log_size_mb': amount(
    10,
    { min: 0.001, max: 100_000 },
    'Size from which on the log is rotated.',
  ),

  'boundary.enabled': flag(
    false,
    'Refuse writes outside the write limits, whatever the tool.',
    'HARNESS_BOUNDARY_ENABLED',
  ),
  'boundary.root': {
    ...text(
      '',
      'Absolute path of what is worked on. Empty: the project the agent works in. Only from the person.',
      'HARNESS_BOUNDARY_ROOT',
    ),
    pattern: '^(?:/|$)',
    isPath: true,
  },
  'boundary.package': {
    ...text(
      '',
      'The directory in it that may be written, relative to it. Empty: all of it.',
      'HARNESS_BOUNDARY_PACKAGE',
    ),
    pattern: `${inside}*$`,
  },
  'boundary.also': {
    ...texts(
      [],
      'Absolute directories that may be written besides, such as that of temporary files. Only from the person.',
      'HARNESS_BOUNDARY_ALSO',
    ),
    pattern: '^/',
    isPath: true,
    separator: ':',
  },
  'boundary.refused': {
    ...texts(
      [],
      'Files and directories, relative to the root, that stay as they are.',
      'HARNESS_BOUNDARY_REFUSED',
    ),
    pattern: `${inside}+$`,
    separator: ',',
  },
  'boundary.git': choice(
    ['all', 'read'],
    '`read`: refuse commands of git that move refs, the index or the stash.',
    'HARNESS_BOUNDARY_GIT',
  ),

  'state.format': choice(['json'], 'Format of the files in the state directory.'),
  'state.dir': text(
    '.harness',
    'Where state.json, edit-tracker.json and trace-log.jsonl are shown, relative to the project.',
    'HARNESS_STATE_DIR',
  ),
} as const satisfies Readonly<Record<string, Setting>>

/** What the groups of keys are about. */
export const settingGroups: Readonly<Record<string, string>> = {
  middleware: 'The rules of the guard.',
  'middleware.context_injection': 'What an agent is told when a session starts.',
  'middleware.loop_detection': 'When an agent is warned that it repeats itself.',
  'middleware.pre_completion_checklist': 'What must hold before an agent may stop.',
  'middleware.file_protection': 'Which files an agent must not change.',
  'middleware.trace_logging': 'The log of the tool calls.',
  boundary: 'Where an agent may write.',
  state: 'The state as files for people.',
}

export type SettingPath = keyof typeof settingTable

export type SettingValues = {
  readonly [Path in SettingPath]: (typeof settingTable)[Path]['initial']
}

export type SettingValue = SettingValues[SettingPath]

export interface Setting {
  readonly kind: 'flag' | 'whole' | 'amount' | 'text' | 'texts' | 'choice'
  readonly initial: boolean | number | string | readonly string[]
  readonly about: string
  /** Environment variable that wins over every file. */
  readonly variable?: string
  readonly min?: number
  readonly max?: number
  readonly choices?: readonly string[]
  /** Regular expression a text must match, of a list each of its texts. */
  readonly pattern?: string
  /** Paths of the machine, which may hold control characters. */
  readonly isPath?: boolean
  /** What stands between the texts of a list in the variable; a JSON array is understood always. */
  readonly separator?: string
}

interface Range {
  readonly min: number
  readonly max?: number
}

function flag(initial: boolean, about: string, variable?: string) {
  return { kind: 'flag', initial, about, ...named(variable) } as const
}

function whole(initial: number, range: Range, about: string, variable?: string) {
  return { kind: 'whole', initial, ...range, about, ...named(variable) } as const
}

function amount(initial: number, range: Range, about: string, variable?: string) {
  return { kind: 'amount', initial, ...range, about, ...named(variable) } as const
}

function text(initial: string, about: string, variable?: string) {
  return { kind: 'text', initial, about, ...named(variable) } as const
}

function texts(initial: readonly string[], about: string, variable?: string) {
  return { kind: 'texts', initial, about, ...named(variable) } as const
}

/** The first is what holds when nothing is said. */
function choice<const Choice extends string>(
  choices: readonly [Choice, ...Choice[]],
  about: string,
  variable?: string,
) {
  return { kind: 'choice', initial: choices[0], choices, about, ...named(variable) } as const
}

function named(variable: string | undefined): { readonly variable?: string } {
  return variable === undefined ? {} : { variable }
}
