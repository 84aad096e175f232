import { readWrapper, readWrapperWords, type WrapperOptions } from './read-wrapper.ts'
import type { Arg } from './shell-state.ts'
import type { Unwrapped, Wrapper } from './wrapper.ts'
import { describeWrappers, wrapperNames } from './wrapper-table.ts'

/** Most hooks run no wrapper, so they see only the names and never load the table. */
function wrapperOf(name: string): Wrapper | undefined {
  if (!wrapperNames.includes(` ${name} `)) return undefined
  const table = describeWrappers()
  return Object.hasOwn(table, name) ? table[name] : undefined
}

export function isWrapper(name: string): boolean {
  return wrapperOf(name) !== undefined
}

/** Takes one layer off a command, in its most likely reading. Empty when the wrapper runs nothing; null when the command is not a wrapper. */
export function unwrap(name: string, args: readonly Arg[]): readonly Unwrapped[] | null {
  const readings = unwrapEveryReading(name, args)
  return readings === null ? null : (readings.find(({ length }) => length > 0) ?? [])
}

/** All readings of a command, the most likely one first. There are several when it has an unknown option, which may have a value. */
export function unwrapEveryReading(
  name: string,
  args: readonly Arg[],
): readonly (readonly Unwrapped[])[] | null {
  const wrapper = wrapperOf(name)
  if (wrapper === undefined) return null
  if (wrapper.describes?.test(args[0]?.value ?? '')) return [[]]
  const readings = callsOf(args, wrapper.separator).flatMap((call) => readWrapper(wrapper, call))
  return readings.length === 0 ? null : readings
}

/** Every way in which a wrapper, such as `xargs`, may read the words before the command, the most likely one first. */
export function readWrapperOptions(name: string, args: readonly Arg[]): readonly WrapperOptions[] {
  const options = wrapperOf(name)?.options ?? ''
  return readWrapperWords({ options }, args)
}

/** `tmux new -d \; send-keys …`: several calls in one. */
function callsOf(args: readonly Arg[], separator: string | undefined): readonly (readonly Arg[])[] {
  if (separator === undefined) return [args]
  const calls: Arg[][] = [[]]
  for (const arg of args)
    if (arg.value === separator) calls.push([])
    else calls.at(-1)?.push(arg)
  return calls
}
