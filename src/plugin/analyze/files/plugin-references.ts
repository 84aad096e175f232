/** A file of the plugin that a command line names, and how. */
export interface PluginReference {
  /** Relative to the root. */
  readonly path: string
  /** It is the program itself, not something that is handed to one. */
  readonly isProgram: boolean
}

const root = /(?:\$\{CLAUDE_PLUGIN_ROOT\}|\$CLAUDE_PLUGIN_ROOT\b)["']?\/([^\s"'`;|&<>()$]+)/g

/** Files that are named by `${CLAUDE_PLUGIN_ROOT}`. */
export function pluginReferences(words: string): readonly PluginReference[] {
  return [...words.matchAll(root)].map((match) => ({
    path: match[1] ?? '',
    isProgram: /^["'\s]*$/.test(words.slice(0, match.index)),
  }))
}

/** Words that look like a path from the working directory: `./hooks/check.sh`, `scripts/check.py`. */
export function relativeReferences(words: string): readonly string[] {
  return words
    .split(/[\s"'`;|&<>()]+/)
    .filter((word) => /^(?:\.\/)?[\w.-]+(?:\/[\w.-]+)+$/.test(word))
    .map((word) => word.replace(/^\.\//, ''))
}
