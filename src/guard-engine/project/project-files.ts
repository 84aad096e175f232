/** What discovery looks at: the files of a project's root, and the names below it. Tests give it made-up ones. */
export interface ProjectFiles {
  /** Names in the root; directories end in `/`. */
  readonly names: ReadonlySet<string>
  /** Files and directories to a depth of at least 3, as the tree listing has them. */
  readonly known: ReadonlySet<string>
  /** Text of a file of the root; null when it is not there, no file, or too large. */
  read(name: string): string | null
}

/** Is there a line that begins like this? `[tool.ruff]` is also begun by `[tool.ruff.lint]`. */
export function hasTable(text: string | null, table: string): boolean {
  if (text === null) return false
  const escaped = table.replaceAll(/[.\\+*?[^\]$(){}=!<>|:#/-]/g, '\\$&')
  return new RegExp(String.raw`^[ \t]*\[[ \t]*${escaped}[ \t]*[.\]]`, 'm').test(text)
}

/** Does a Makefile or a justfile have this target? */
export function hasTarget(text: string | null, target: string): boolean {
  const targets = /^([\w./%-][\w./% \t-]*?)[ \t]*::?(?!=)/
  return (text ?? '').split('\n').some((line) => {
    if (line.length > maxRuleLength || !line.includes(target)) return false
    return (
      targets
        .exec(line)?.[1]
        ?.split(/[ \t]+/)
        .includes(target) ?? false
    )
  })
}

const maxRuleLength = 1000
