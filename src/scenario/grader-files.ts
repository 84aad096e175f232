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
    .flatMap((command) => withoutQuotes(command).split(/[;&|()\n]+/))
    .map((part) => wordsOf(part))
    .map((words) => scriptOf(words, isTemplateFile))
  return [...new Set(found.filter((path) => path !== null))]
}

/** Scripts written as `./path` that the template lacks. Not always a mistake: set-up or the agent may make them. */
export function missingScripts(commands: readonly string[], templateDir: string): string[] {
  const places = [templateDir, join(templateDir, 'initial-state')]
  const programs = commands.flatMap((command) => {
    const [program] = wordsOf(withoutQuotes(command).split(/[;&|()\n]+/)[0] ?? '')
    return program?.startsWith('./') === true ? [program] : []
  })
  return [...new Set(programs)].filter((path) => !places.some((place) => isFile(join(place, path))))
}

/** Programs that run the file they are given, unless they are given code instead. */
const shell = /^(sh|bash|dash|ash|zsh|ksh|fish|\.|source)$/
const otherInterpreter = /^(node|deno|bun|tsx|ruby|perl|php|lua|Rscript|python[\d.]*)$/
/** Words in front of a command that leave it what it is. */
const prefix =
  /^([A-Za-z_]\w*=.*|!|if|then|else|do|while|exec|command|env|time|nice|nohup|\d+[smhd]?|timeout)$/
const workspaceVariable = /^\$\{?(LLM_TOOL_TEST|GANTRY)_FIXTURE_DIR\}?\//

/** A quoted word stays as it is; what is more than one word is text or code, and names nothing. */
function withoutQuotes(command: string): string {
  return command.replaceAll(/"([^"]*)"|'([^']*)'/g, (_whole, double?: string, single?: string) => {
    const text = double ?? single ?? ''
    return /[\s;&|()<>]/.test(text) ? '_' : text
  })
}

function wordsOf(part: string): string[] {
  const words = part
    .split(/\s+|(?=[<>])/)
    .map((word) => word.replace(workspaceVariable, ''))
    .filter((word) => word !== '')
  const start = words.findIndex((word) => !prefix.test(basename(word)))
  return start === -1 ? [] : words.slice(start)
}

function scriptOf(words: readonly string[], isTemplateFile: (path: string) => boolean): string | null {
  const [program, ...args] = words
  if (program === undefined) return null
  if (isTemplateFile(normalize(program))) return normalize(program)
  const name = basename(program)
  if (!shell.test(name) && !otherInterpreter.test(name)) return null
  const code = shell.test(name) ? /^-[a-z]*c$/ : /^-[ce]$/
  const inline = args.findIndex((word) => code.test(word))
  const candidates = inline === -1 ? args : args.slice(0, inline)
  return candidates.map((word) => normalize(word)).find(isTemplateFile) ?? null
}
