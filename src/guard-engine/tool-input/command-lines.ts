import { inputObjects, keyMeanings } from './input-fields.ts'
import type { ToolVerbs } from './tool-verbs.ts'

/** What a tool would run, as shell lines. */
export function commandLines(input: unknown, { words, runs, types }: ToolVerbs): readonly string[] {
  if (typeof input === 'string') return [input]
  return inputObjects(input).flatMap((object) => {
    const entries = Object.entries(object)
    const given = programLines(entries, words.at(-1) ?? '')
    const fed = entries.flatMap(([key, value]) => {
      if (typeof value !== 'string' || !/^(?:stdin|input)$/i.test(key)) return []
      return given.map((line) => `printf '%s\\n' ${quoted(value)} | {\n${line}\n}`)
    })
    const code = runs || types !== null ? entries.flatMap(([key, value]) => codeLines(key, value, types)) : []
    return [...given, ...fed, ...code]
  })
}

type Entries = readonly (readonly [string, unknown])[]

/** A line as written, a program with a list of arguments, or a list of all words. */
function programLines(entries: Entries, toolName: string): readonly string[] {
  const program = entries.find(
    ([key, value]) => /^(?:command|cmd|program|executable|file)$/i.test(key) && typeof value === 'string',
  )?.[1]
  return entries.flatMap(([key, value]) => {
    if (typeof value === 'string') {
      if (keyMeanings.isCommand(key)) return [value]
      return /^(?:args|arguments)$/i.test(key) ? [`${program ?? toolName} ${value}`] : []
    }
    const words = asWords(value)
    if (words === null) return []
    if (/^commands$/i.test(key)) return [words.join('\n')]
    if (!/^(?:command|cmd|args|argv|arguments)$/i.test(key)) return []
    const line = words.map(quoted).join(' ')
    return typeof program === 'string' ? [`${program} ${line}`] : [line, `${toolName} ${line}`]
  })
}

function codeLines(key: string, value: unknown, types: ToolVerbs['types']): readonly string[] {
  const isTyped =
    (types !== null && /^(?:input|keys|line|stdin|chars)$/i.test(key)) ||
    (types === 'surely' && /^(?:text|data)$/i.test(key))
  if (!(isTyped || keyMeanings.isCode(key))) return []
  // A cell of a notebook is a list of lines.
  const code = typeof value === 'string' ? value : asWords(value)?.join('')
  if (code === undefined) return []
  return [...(isTyped && !(types === 'perhaps' && isProgramText(code)) ? [code] : []), ...asCommands(code)]
}

/** Not a shell line: a call with arguments, a declaration. */
function isProgramText(code: string): boolean {
  return /^\s*(?:(?:\w+\s*=\s*)?(?:await\s+)?[\w.]+\((?!\))|(?:const|let|var|import|from|def)\s)/.test(code)
}

function asWords(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : null
}

/** Code in an unknown language: as the common languages would read it. */
function asCommands(code: string): readonly string[] {
  const shell = [...code.matchAll(/^\s*(?:[\w, ]+=\s*)?(?:!{1,2}|%(?:sx|system)\s)(.+)$/gm)].map(
    ([, line = '']) => line,
  )
  const cell = /^\s*%%(?:bash|sh|zsh|system|sx|!|script\s+\S*sh)\b[^\n]*\n([\s\S]*)$/.exec(code)?.[1]
  const written = /^\s*%%(?:write)?file\s+(?:-a\s+)?(.+)$/m.exec(code)?.[1]
  return [
    `python3 -c ${quoted(code)}`,
    `node -e ${quoted(code)}`,
    ...shell,
    ...(cell === undefined ? [] : [cell]),
    ...(written === undefined ? [] : [`: > ${quoted(written.trim())}`]),
  ]
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
