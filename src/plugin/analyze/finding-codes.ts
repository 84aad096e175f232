import type { PluginFinding } from './contract.ts'

interface CodeFacts {
  readonly severity: PluginFinding['severity']
  /** Also shown in the table of `docs/plugin-findings.md`. */
  readonly meaning: string
}

/** All findings of the analysis. A finding may be reported as less severe than its code, never as more severe. */
export const findingCodes = {
  LINK_OUTSIDE: error('A link or a path leads out of the plugin. It is not followed.'),
  LINK_IGNORED: warning('Claude Code does not load this link.'),
  PATH_MISSING: error('The manifest names a file or directory that does not exist.'),
  PATH_REFUSED: error('The manifest names a path in a form that Claude Code rejects.'),
  FILE_TOO_LARGE: error('A file is too large: Claude Code drops a component above 1 MiB without a message.'),
  FILE_NOT_TEXT: error('A file is binary, or has bytes that are not UTF-8.'),
  FILE_UNREADABLE: error('A path that should be a file cannot be read.'),
  FILE_NOT_LOADED: warning('A file looks like a component, but Claude Code does not load it from there.'),
  COMMANDS_HIDDEN: error('A skill.md turns its whole directory into one command and hides the other files.'),
  CONTEXT_FILE_IGNORED: warning('Claude Code does not load a CLAUDE.md of a plugin.'),
  TOO_MANY_FILES: warning('A directory has too many entries; only the first were read.'),
  DEFAULT_DIRECTORY_IGNORED: warning(
    'The manifest names other paths, so the default directory is not loaded.',
  ),
  MANIFEST_TYPE: error(
    'A key of the manifest has the wrong type; Claude Code then loads nothing of the plugin.',
  ),
  MANIFEST_UNKNOWN_KEY: warning('A key of the manifest that Claude Code does not know.'),
  MANIFEST_INCOMPLETE: info('The manifest lacks keys that `claude plugin validate` asks for.'),
  PLUGIN_NAME_REFUSED: error('Claude Code refuses the name of the plugin.'),
  FRONTMATTER_INVALID: error('The frontmatter is not YAML.'),
  FRONTMATTER_TYPE: error('A value of the frontmatter has the wrong type and is not used.'),
  DESCRIPTION_MISSING: warning('There is no description, so the model cannot know when to use it.'),
  NOT_INVOCABLE: warning('The frontmatter excludes the very users of the component.'),
  DESCRIPTION_TOO_LONG: warning('The description is longer than the model can see.'),
  NAME_NOT_USED: info(
    'Claude Code calls the component by another name than the one in its frontmatter or path.',
  ),
  FIELD_IGNORED: warning('A key of the frontmatter that Claude Code ignores in a plugin.'),
  EXAMPLE_WITHOUT_USER: info(
    'An <example> block of a description has no user line, so no scenario is made of it.',
  ),
  ARGUMENT_HINT: warning('The argument hint is too long, or YAML does not read it as text.'),
  UNKNOWN_TOOL: warning('Claude Code has no tool of this name.'),
  NAME_COLLISION: error('Two components have the same name; only one of them can be reached.'),
  OVERLAPPING_DESCRIPTIONS: warning('Two components have nearly the same description.'),
  SHARED_TRIGGER: warning('Two components have the same trigger phrase.'),
  LISTING_DROPPED: warning('The description does not fit into the listing for the model.'),
  HOOK_INVALID: error('The hook has a form that Claude Code does not load.'),
  HOOK_EVENT_UNKNOWN: error('There is no such hook event.'),
  HOOK_EVENT_NEW: info('Older versions of Claude Code reject the whole file because of this event.'),
  HOOK_NEVER_RUNS: error('The hook is loaded but never runs.'),
  HOOK_MATCHER_INVALID: error('The matcher is not a valid regular expression, or far too long.'),
  HOOK_MATCHER_UNKNOWN: warning('The matcher matches no known value.'),
  HOOK_MATCHER_IGNORED: info('The event ignores matchers.'),
  HOOK_OUTPUT_REJECTED: error('The hook seems to give an answer that its event rejects.'),
  HOOK_EXIT_CODE: warning('The exit code of the hook does not have the intended effect.'),
  HOOK_SCRIPT_MISSING: error('The hook starts a file of the plugin that does not exist.'),
  HOOK_SCRIPT_NOT_EXECUTABLE: error('The hook starts a file of the plugin that is not executable.'),
  HOOK_PATH_RELATIVE: warning('A relative path in a command starts at the project, not at the plugin.'),
  HOOK_PATH_UNQUOTED: warning(
    'The path of the plugin is not in quotes, so the hook fails when it contains a blank.',
  ),
  HOOK_TIMEOUT: warning('The timeout is likely wrong, or has no effect.'),
  HOOK_FIELD_IGNORED: warning('A key of the hook has no effect.'),
  HOOK_DUPLICATE: info('The same hook is written twice and runs once.'),
  HOOK_MODULES: info('The hooks file names code modules, which are not analysed.'),
  MCP_INVALID: error('The server has a form that Claude Code does not start.'),
  MCP_DUPLICATE: warning('Two servers run the same program; Claude Code starts only one of them.'),
  MCP_SCRIPT_MISSING: error('The server starts a file of the plugin that does not exist.'),
  MCP_SECRET_IN_FILE: warning('The file seems to contain a secret.'),
  CROWD_REFUSED: warning('Another plugin could not be read and was ignored.'),
} as const satisfies Readonly<Record<string, CodeFacts>>

export type FindingCode = keyof typeof findingCodes

function error(meaning: string): CodeFacts {
  return { severity: 'error', meaning }
}

function warning(meaning: string): CodeFacts {
  return { severity: 'warning', meaning }
}

function info(meaning: string): CodeFacts {
  return { severity: 'info', meaning }
}
