import { asObject, asString, asStrings } from '../../core/json-fields.ts'
import { wordsOfShell } from './shell-words.ts'

/** Whether a handler in somebody's hook file starts the guard, of whatever version and from whatever place. */
export function isOurHook(handler: unknown): boolean {
  const words = wordsOfHook(handler)
  if (/(?:^|[\\/])gantry-hook\.cjs$/.test(words[0] ?? '')) return true
  const script = words.findIndex((word) => /(?:^|[\\/])hook-bin\.(?:js|ts)$/.test(word))
  return script !== -1 && words[script + 1] === '--agent'
}

/** Program and arguments, whichever way they are written. */
export function wordsOfHook(handler: unknown): readonly string[] {
  const { command, bash, exec, args } = asObject(handler) ?? {}
  const program = asString(exec) ?? asString(command) ?? asString(bash)
  if (program === undefined) return []
  return Array.isArray(args) ? [program, ...(asStrings(args) ?? [])] : wordsOfShell(program)
}
