import { basename, join, normalize } from 'node:path'
import { isFile } from '../io/path-kind.ts'

/**
 * The files of the template that commands run: `./check.sh notes.md` and `python3 scripts/check.py notes.md` give the
 * script and not what it looks at, `grep -q milk notes.md` gives nothing. Paths are relative to the workspace.
 */
export function scriptFiles(commands: readonly string[], templateDir: string): string[] {
  const places = [templateDir, join(templateDir, 'initial-state')]
  const isTemplateFile = (path: string): boolean =>
    path !== '.' && !path.startsWith('..') && places.some((place) => isFile(join(place, path)))
  const found = commands
    .flatMap((command) => command.split(/[;&|()\n]+/))
    .map((part) => wordsOf(part))
    .map((words) => scriptOf(words, isTemplateFile))
  return [...new Set(found.filter((path) => path !== null))]
}

/** Programs that run the file they are given. */
const interpreter =
  /^(sh|bash|dash|ash|zsh|ksh|fish|node|deno|bun|tsx|ruby|perl|php|lua|Rscript|\.|source|python[\d.]*)$/
/** Words in front of a command that leave it what it is. */
const prefix =
  /^([A-Za-z_]\w*=.*|!|if|then|else|do|while|exec|command|env|time|nice|nohup|\d+[smhd]?|timeout)$/
const workspaceVariable = /^\$\{?(LLM_TOOL_TEST|GANTRY)_FIXTURE_DIR\}?\//

function wordsOf(part: string): string[] {
  const words = part
    .split(/\s+|(?=[<>])/)
    .map((word) => word.replaceAll(/["']/g, '').replace(workspaceVariable, ''))
    .filter((word) => word !== '')
  const start = words.findIndex((word) => !prefix.test(word))
  return start === -1 ? [] : words.slice(start)
}

function scriptOf(words: readonly string[], isTemplateFile: (path: string) => boolean): string | null {
  const [program, ...args] = words
  if (program === undefined) return null
  if (isTemplateFile(normalize(program))) return normalize(program)
  if (!interpreter.test(basename(program))) return null
  const inline = args.findIndex((word) => /^-[ce]$/.test(word))
  const candidates = inline === -1 ? args : args.slice(0, inline)
  return candidates.map((word) => normalize(word)).find(isTemplateFile) ?? null
}
