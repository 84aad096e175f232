const root = /(?:\$\{CLAUDE_PLUGIN_ROOT\}|\$CLAUDE_PLUGIN_ROOT\b)["']?\/([^\s"'`;|&<>()$]+)/g

/**
 * Files that are named by `${CLAUDE_PLUGIN_ROOT}`, relative to it, except those that the command itself makes or removes. `isProgram`: it
 * is the program itself, not an argument.
 */
export function pluginReferences(words: string) {
  return [...words.matchAll(root)].flatMap((match) => {
    const before = words.slice(0, match.index)
    return changed.test(before) ? [] : [{ path: match[1] ?? '', isProgram: /^["'\s]*$/.test(before) }]
  })
}

/** A redirection, or a program that makes or removes its arguments, before a path. */
const changed = />\s*["']?$|(?:^|[;&|({]\s*|\s)(?:mkdir|touch|rm|tee)\s[^;&|<>]*$/

/** Whether a file of the plugin gets an argument, by which it may tell its events apart. */
export function givesArgument(words: string): boolean {
  return /CLAUDE_PLUGIN_ROOT\}?["']?\/[^\s"'`;|&<>()$]+["']?[ \t]+[^\s|&;<>\d]/.test(words)
}

/**
 * Files that a command line starts by a path from the working directory: `./hooks/check.sh`, `python3 scripts/check.py`. Further
 * arguments may be anything. After a `cd` the paths start elsewhere.
 */
export function startedByRelativePath(words: string): readonly string[] {
  if (/(?:^|[\s;&|(])(?:cd|pushd)\s/.test(words)) return []
  return words.split(/&&|\|\||[;|\n]/).flatMap((part) => {
    const [program = '', ...rest] = part.trim().replaceAll(/["']/g, '').split(/\s+/)
    const started = interpreters.test(program) ? rest.find((word) => !word.startsWith('-')) : program
    const path = started ?? ''
    return /^(?:\.\/)?[\w.-]+(?:\/[\w.-]+)+$/.test(path) ? [path.replace(/^\.\//, '')] : []
  })
}

const interpreters = /^(?:\/usr\/bin\/env|node|bun|deno|python3?|bash|sh|zsh|ruby|perl|pwsh|tsx|uv|npx)$/

/** Whether a shell would split the path of the plugin at a blank in it. */
export function isRootUnquoted(command: string): boolean {
  let quote = ''
  for (let at = 0; at < command.length; at += 1) {
    const char = command[at] ?? ''
    if (char === '\\') at += 1
    else if (quote === '' && (char === '"' || char === "'")) quote = char
    else if (char === quote) quote = ''
    else if (quote === '' && /^\$\{?CLAUDE_PLUGIN_ROOT\b/.test(command.slice(at, at + 22))) return true
  }
  return false
}
