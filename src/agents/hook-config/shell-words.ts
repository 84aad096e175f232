import type { HookCommand } from '../hook-installer.ts'

export function hookWords(command: HookCommand): Pick<HookCommand, 'program' | 'args'> {
  return command.onlyIf === undefined ? command : { program: '/bin/sh', args: ['-c', hookLine(command)] }
}

/** The same as one line for `sh -c`, for agents that accept no list. */
export function hookLine({ program, args, onlyIf }: HookCommand): string {
  const line = shellWords([program, ...args])
  return onlyIf === undefined ? line : onlyWhere(onlyIf, `exec ${line}`)
}

export function shellWords(words: readonly string[]): string {
  return words.map(quoted).join(' ')
}

/**
 * The same for a hook that must answer: Codex continues when it exits with any code but 2, and also with 2 without a
 * message. If the program cannot answer for any reason, this line blocks with a message.
 */
export function blockingLine(words: readonly string[]): string {
  return `${shellWords(words)} || { [ $? = 2 ] || echo '${noAnswer}' >&2; exit 2; }`
}

const noAnswer =
  'Gantry guard: it could not be started, and nothing runs unjudged. Tell the person: `gantry guard status` shows what is wrong.'

/**
 * The line does nothing where none of these paths exists. The file may reach a colleague who has no Gantry through version control, and must
 * not break that agent. On the machine where it was installed at least one of them exists, so a missing program still blocks.
 */
export function onlyWhere(paths: readonly string[] | undefined, line: string): string {
  if (paths === undefined || paths.length === 0) return line
  return `${paths.map((path) => `[ -e ${quoted(path)} ]`).join(' || ')} || exit 0; ${line}`
}

export function withoutCondition(line: string): string {
  return line.replace(/^\[ -e .*? \] \|\| exit 0; (?:exec )?/, '')
}

/** The words of a line made by `shellWords`; an approximation for other lines. */
export function wordsOfShell(line: string): readonly string[] {
  const words = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []
  return words.map((word) => word.replaceAll(/'([^']*)'|\\(.)/g, (_, inside, escaped) => inside ?? escaped))
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
