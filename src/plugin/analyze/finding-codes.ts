import type { PluginFinding } from './contract.ts'

interface CodeFacts {
  readonly severity: PluginFinding['severity']
  /** What it says of the plugin; also the table in `docs/plugin-findings.md`. */
  readonly meaning: string
}

/** Every finding there is. A finding may be told as less severe than its code, never as more. */
export const findingCodes = {
  LINK_OUTSIDE: error('A link or a path leads out of the plugin. It is not followed.'),
  LINK_IGNORED: warning('A link stands where Claude Code loads no links.'),
  PATH_MISSING: error('The manifest names a file or directory that is not there.'),
  PATH_REFUSED: error('The manifest names a path of a form that Claude Code refuses.'),
  FILE_TOO_LARGE: warning('A file is too large; only its beginning was read.'),
  FILE_NOT_TEXT: error('A file is binary, or has bytes that are not UTF-8.'),
  FILE_UNREADABLE: error('Something that cannot be read stands where a file is expected.'),
  FILE_NOT_LOADED: warning('A file looks like a component, but Claude Code does not load it from there.'),
  TOO_MANY_FILES: warning('A directory holds more than is looked through.'),
  DEFAULT_DIRECTORY_IGNORED: warning(
    'The manifest names other paths, so the default directory is not loaded.',
  ),
  MANIFEST_TYPE: error(
    'A key of the manifest has the wrong type; Claude Code then loads nothing of the plugin.',
  ),
  MANIFEST_UNKNOWN_KEY: warning('A key of the manifest that Claude Code does not know.'),
  PLUGIN_NAME_REFUSED: error('Claude Code refuses the name of the plugin.'),
  FRONTMATTER_INVALID: error('The frontmatter is not YAML.'),
  FRONTMATTER_TYPE: error('A value of the frontmatter has the wrong type and is not used.'),
  DESCRIPTION_MISSING: warning('There is no description, so the model is not told when to use it.'),
  NOT_INVOCABLE: warning('The frontmatter forbids those to use it who are meant to.'),
  DESCRIPTION_TOO_LONG: warning('The description is longer than what the model gets to see.'),
  NAME_NOT_USED: info(
    'Claude Code calls the component by another name than the one in its frontmatter or path.',
  ),
  FIELD_IGNORED: warning('A key of the frontmatter that Claude Code ignores in a plugin.'),
  EXAMPLE_WITHOUT_USER: warning('An <example> block has no line of the user.'),
  ARGUMENT_HINT: warning('The argument hint does not say what it seems to.'),
  UNKNOWN_TOOL: warning('A tool is named that Claude Code does not have.'),
  NAME_COLLISION: error('Two components have the same name; only one of them can be reached.'),
  OVERLAPPING_DESCRIPTIONS: warning('Two components say nearly the same of themselves.'),
  SHARED_TRIGGER: warning('Two components claim the same trigger phrase.'),
  LISTING_DROPPED: warning('The description does not fit into what Claude Code tells its model.'),
  HOOK_INVALID: error('A hook is written in a way that Claude Code does not load.'),
  HOOK_EVENT_UNKNOWN: error('There is no such hook event.'),
  HOOK_EVENT_NEW: info('Older versions of Claude Code reject the whole file because of this event.'),
  HOOK_NEVER_RUNS: error('The hook is loaded and never runs.'),
  HOOK_MATCHER_INVALID: error('The matcher is no regular expression, so it matches nothing.'),
  HOOK_MATCHER_UNKNOWN: warning('The matcher fits nothing that is known.'),
  HOOK_MATCHER_IGNORED: info('The event takes no matcher.'),
  HOOK_OUTPUT_REJECTED: error('The hook seems to answer with what its event does not take.'),
  HOOK_EXIT_CODE: warning('The exit code of the hook does not do what it seems to.'),
  HOOK_SCRIPT_MISSING: error('The hook starts a file of the plugin that is not there.'),
  HOOK_SCRIPT_NOT_EXECUTABLE: error('The hook starts a file of the plugin that is not executable.'),
  HOOK_PATH_RELATIVE: warning('A relative path of a command starts at the project, not at the plugin.'),
  HOOK_TIMEOUT: warning('The time limit does not say what it seems to.'),
  HOOK_FIELD_IGNORED: warning('A key of a hook that has no effect there.'),
  HOOK_DUPLICATE: info('The same hook stands there twice and runs once.'),
  HOOK_MODULES: info('The hooks file names modules of code, which are not looked into.'),
  MCP_INVALID: error('A server is written in a way that Claude Code does not start.'),
  MCP_DUPLICATE: warning('Two servers are the same program; Claude Code starts one of them.'),
  MCP_SCRIPT_MISSING: error('The server starts a file of the plugin that is not there.'),
  MCP_SECRET_IN_FILE: warning('A secret seems to stand in the file itself.'),
  CROWD_REFUSED: warning('Another plugin could not be read, so nothing is said about it.'),
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
