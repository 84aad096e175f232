/** Relative and without `..`. Callers append the rest. */
const inside = String.raw`^(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\x00-\x1f\x7f]`

/** Every key of harness.json and of `guard` in gantry.yaml. The reader, the schema and the documentation are generated from this table. */
export const settingTable = {
  version: {
    ...text('1.0.0', 'Version of the settings. This guard accepts only version 1.'),
    pattern: String.raw`^1(\.\d+){0,2}$`,
  },

  'middleware.context_injection.enabled': flag(
    true,
    'Give the agent facts about the project when a session starts.',
    'HARNESS_CONTEXT_ENABLED',
  ),
  'middleware.context_injection.inject_dir_tree': flag(true, 'Include the directory tree.'),
  'middleware.context_injection.inject_tools': flag(
    true,
    'Include the verification commands and the toolchains of the project.',
  ),
  'middleware.context_injection.max_tree_depth': whole(
    3,
    { min: 1, max: 32 },
    'Levels of the tree to include, at most 100 entries in total.',
    'HARNESS_MAX_TREE_DEPTH',
  ),
  'middleware.context_injection.time_budget_seconds': amount(
    0,
    { min: 0 },
    'Time budget of a session, reported to the agent. 0: no budget.',
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
    'Number of edits of one file that counts as a loop.',
    'HARNESS_LOOP_THRESHOLD',
  ),
  'middleware.loop_detection.reset_on_new_task': flag(
    true,
    'Reset the edit counts for every task of the plan.',
  ),
  'middleware.loop_detection.repeat_threshold': whole(
    3,
    { min: 2 },
    'Number of repetitions of the same failing call, cycle or error that counts as a loop.',
  ),

  'middleware.pre_completion_checklist.enabled': flag(
    true,
    'Refuse to let an agent stop before its work is verified.',
    'HARNESS_CHECKLIST_ENABLED',
  ),
  'middleware.pre_completion_checklist.require_verification': flag(
    true,
    'Refuse while a verification command has not run on the current tree.',
    'HARNESS_REQUIRE_VERIFICATION',
  ),
  'middleware.pre_completion_checklist.require_tests_pass': flag(
    true,
    'Refuse while a verification command failed on the current tree.',
    'HARNESS_REQUIRE_TESTS_PASS',
  ),
  'middleware.pre_completion_checklist.require_plan_check': flag(
    true,
    'Refuse while IMPLEMENTATION_PLAN.md has open tasks.',
    'HARNESS_REQUIRE_PLAN_CHECK',
  ),
  'middleware.pre_completion_checklist.verification_commands': texts(
    [],
    'Commands that verify the project, in addition to those found in it.',
    'HARNESS_VERIFICATION_COMMANDS',
  ),
  'middleware.pre_completion_checklist.documentation': texts(
    [
      '*.md',
      '*.markdown',
      '*.rst',
      '*.adoc',
      '*.log',
      '{.gitignore,.dockerignore,.editorconfig,.pre-commit-config.yaml,.mcp.json,renovate.json,CODEOWNERS}',
      '.env.{example,sample,template,dist}',
      '{README,LICENSE,LICENCE,COPYING,NOTICE,AUTHORS,CONTRIBUTORS,CHANGELOG,CHANGES,HISTORY}{,.txt}',
      '{.github,.gitlab,.circleci}/**/*.{yml,yaml,json}',
      '.{vscode,idea,devcontainer}/**',
      '{.gitlab-ci.yml,.prettierignore,.prettierrc,.prettierrc.{json,yml,yaml,toml}}',
      '{mkdocs,.readthedocs}.{yml,yaml}',
      '{doc,docs}/**/*.{txt,png,jpg,jpeg,gif,svg,webp,pdf}',
      '!**/{test,tests,spec,specs,__tests__,fixtures,__fixtures__,testdata,__snapshots__,snapshots,golden}/**',
    ],
    'Globs of documentation. A change of these files, or only of comments, needs no verification. `!` takes files out. Empty: every change needs it.',
  ),
  'middleware.pre_completion_checklist.tdd': choice(
    ['off', 'warn', 'require'],
    'Whether a changed behaviour needs a test that failed before the change: `warn` the user, or `require` it.',
    'HARNESS_TDD',
  ),
  'middleware.pre_completion_checklist.max_refusals': whole(
    2,
    { min: 1, max: 100 },
    'Refusals to stop per prompt; then the agent may stop and the end is CAPPED.',
  ),
  'middleware.pre_completion_checklist.run_at_stop': flag(
    false,
    'Older spelling of `completion.verify: self`.',
  ),
  'middleware.pre_completion_checklist.verification_timeout_seconds': amount(
    300,
    { min: 1, max: 86_400 },
    'Time limit of one verification command when the guard runs it.',
  ),

  'completion.verify': choice(
    ['when_unclear', 'agent', 'self'],
    "Whose runs of the verification commands count at a stop: `agent`, those of the agent and of `gantry guard verify`; `when_unclear`, these, and one that the guard makes itself if only how the agent's run ended is unclear; `self`, only those of the guard, which runs the commands once for every tree before it refuses.",
    'HARNESS_VERIFY',
  ),

  'middleware.file_protection.enabled': flag(
    true,
    'Refuse changes of protected files by any tool.',
    'HARNESS_PROTECTION_ENABLED',
  ),
  'middleware.file_protection.protected_patterns': texts(
    ['.env', '.env.*', '*.pem', '*.key', 'credentials.*', 'id_rsa*', 'id_ed25519*', '.netrc'],
    'Globs of protected files: matched by name or, with a slash, by path in the project.',
  ),
  'middleware.file_protection.enforcement': choice(
    ['notice', 'read', 'kernel'],
    '`read`: refuse calls that would change a protected file. `notice`: also compare the files after every call. `kernel`: also mount them read-only for the commands of a shell tool.',
    'HARNESS_ENFORCEMENT',
  ),
  'middleware.file_protection.restore': choice(
    ['with_kernel', 'always', 'never'],
    'When a changed protected file is put back and a new one is put aside after the call.',
  ),

  'middleware.trace_logging.enabled': flag(true, 'Keep a log of the tool calls.', 'HARNESS_TRACE_ENABLED'),
  'middleware.trace_logging.log_tool_calls': flag(true, 'Log calls that do not edit files.'),
  'middleware.trace_logging.log_file_edits': flag(true, 'Log calls that edit files.'),
  'middleware.trace_logging.max_log_size_mb': amount(
    10,
    { min: 0.001, max: 100_000 },
    'Size at which the log is rotated.',
  ),

  'boundary.enabled': flag(
    false,
    'Refuse writes outside the write limits by any tool.',
    'HARNESS_BOUNDARY_ENABLED',
  ),
  'boundary.root': {
    ...text(
      '',
      'Absolute path of the project. Empty: the project the agent works in. Only the user may set it.',
      'HARNESS_BOUNDARY_ROOT',
    ),
    pattern: '^(?:/|$)',
    isPath: true,
  },
  'boundary.package': {
    ...text(
      '',
      'The writable directory, relative to the root. Empty: the whole project.',
      'HARNESS_BOUNDARY_PACKAGE',
    ),
    pattern: `${inside}*$`,
  },
  'boundary.also': {
    ...texts(
      [],
      'Additional writable directories, absolute, such as the one for temporary files. Only the user may set it.',
      'HARNESS_BOUNDARY_ALSO',
    ),
    pattern: '^/',
    isPath: true,
    separator: ':',
  },
  'boundary.refused': {
    ...texts(
      [],
      'Files and directories, relative to the root, that must not change.',
      'HARNESS_BOUNDARY_REFUSED',
    ),
    pattern: `${inside}+$`,
    separator: ',',
  },
  'boundary.git': choice(
    ['all', 'read'],
    '`read`: refuse git commands that change refs, the index or the stash.',
    'HARNESS_BOUNDARY_GIT',
  ),

  'state.format': choice(['json'], 'Format of the files in the state directory.'),
  'state.dir': text(
    '.harness',
    'Directory of state.json, edit-tracker.json and trace-log.jsonl, relative to the project.',
    'HARNESS_STATE_DIR',
  ),
} as const satisfies Readonly<Record<string, Setting>>

/** Descriptions of the groups of keys. */
export const settingGroups: Readonly<Record<string, string>> = {
  middleware: 'The rules of the guard.',
  'middleware.context_injection': 'Facts for the agent when a session starts.',
  'middleware.loop_detection': 'When an agent is warned that it repeats itself.',
  'middleware.pre_completion_checklist': 'Conditions for an agent to stop.',
  'middleware.file_protection': 'Which files an agent must not change.',
  'middleware.trace_logging': 'The log of the tool calls.',
  completion: 'How the end of the work is judged.',
  boundary: 'Where an agent may write.',
  state: 'State files for people to read.',
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
  /** Environment variable that overrides every file. */
  readonly variable?: string
  readonly min?: number
  readonly max?: number
  readonly choices?: readonly string[]
  /** Regular expression that a text, or each text of a list, must match. */
  readonly pattern?: string
  /** Paths of the machine, which may contain control characters. */
  readonly isPath?: boolean
  /** Separator of a list in the variable. A JSON array is always accepted. */
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

/** The first choice is the default. */
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
