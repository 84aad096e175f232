import { isLiteral, type ShellUnit } from './shell-unit.ts'

export interface Unwrapped {
  readonly unit: ShellUnit
  /** Started with a time limit of the shell: exit code 124 says that it ran out. */
  readonly limited: boolean
}

/** The command behind programs that start another one and end as it ends: `command`, `exec`, `nice`, `env`, `timeout`. */
export function unwrapUnit(unit: ShellUnit): Unwrapped {
  const [name, ...rest] = unit.words
  const inner = (words: readonly string[], more: ShellUnit['assignments'] = []): ShellUnit => ({
    ...unit,
    words,
    assignments: [...unit.assignments, ...more],
  })
  if ((name === 'command' || name === 'exec' || name === 'nice') && isProgram(rest[0]))
    return unwrapUnit(inner(rest))
  if (name === 'env') {
    const at = rest.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word))
    if (at >= 0 && isProgram(rest[at])) {
      const set = rest.slice(0, at).map((text) => ({ name: text.slice(0, text.indexOf('=')), text }))
      return unwrapUnit(inner(rest.slice(at), set))
    }
  }
  if (name === 'timeout') {
    const at = rest[0] === '-k' ? 2 : 0
    const [limit, program] = rest.slice(at)
    if (/^\d+(?:\.\d+)?[smhd]?$/.test(limit ?? '') && isProgram(program))
      return { ...unwrapUnit(inner(rest.slice(at + 1))), limited: true }
  }
  return { unit, limited: false }
}

export interface ShellCall {
  readonly script: string
  readonly pipefail: boolean
}

/** `sh -c SCRIPT`, when it is nothing but that and the script is written out. */
export function shellCall({ words }: ShellUnit): ShellCall | null {
  const [name = '', ...args] = words
  if (!/^(?:\/(?:usr\/)?bin\/)?(?:ba|da|z|k)?sh$/.test(name)) return null
  let pipefail = false
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    const next = args[index + 1]
    if (/^-[euxl]*o$/.test(arg) && next === 'pipefail') {
      pipefail = true
      index += 1
    } else if (/^-[euxl]*c$/.test(arg)) {
      const isWhole = next !== undefined && index + 2 === args.length && isLiteral(next)
      return isWhole ? { script: next, pipefail } : null
    } else if (!/^-[euxl]+$/.test(arg)) return null
  }
  return null
}

function isProgram(word: string | undefined): boolean {
  return word !== undefined && !word.startsWith('-')
}
