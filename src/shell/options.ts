import { type Arg, argOf } from './shell-state.ts'

export type Options = ReturnType<typeof readOptions>

/** Reads a command line as most programs do: `-abc`, `-o file`, `-ofile`, `--long=value`, `--`. `valued` names the options with a value: `o output`. */
export function readOptions(args: readonly Arg[], valued = '', { operandsFirst = false } = {}) {
  const valuedNames = valued.split(' ')
  const given = new Set<string>()
  const values: (readonly [string, Arg])[] = []
  const operands: Arg[] = []
  let index = 0
  for (; index < args.length; index += 1) {
    const arg = args[index]
    if (arg === undefined) break
    const { value } = arg
    if (value === '--') break
    if (value.startsWith('--')) long(value)
    else if (value.startsWith('-') && value.length > 1) short(value)
    else {
      operands.push(arg)
      if (operandsFirst) break
    }
  }
  operands.push(...args.slice(index + 1))
  return {
    /** Given options, short ones by their letter, long ones by their name, both without dashes. */
    given,
    operands,
    /** Whether one of these was given: `f force`. */
    has: (names: string): boolean => names !== '' && names.split(' ').some((name) => given.has(name)),
    /** The values of these, in the order in which they were given. */
    values: (names: string): readonly Arg[] => {
      const wanted = names.split(' ')
      return values.filter(([name]) => wanted.includes(name)).map(([, value]) => value)
    },
  }

  function long(text: string): void {
    const at = text.indexOf('=')
    const name = fullName(text.slice(2, at === -1 ? undefined : at))
    given.add(name)
    if (at !== -1) values.push([name, argOf(text.slice(at + 1))])
    else if (valuedNames.includes(name)) take(name)
  }

  function short(text: string): void {
    const whole = text.slice(1)
    if (whole.length > 1 && valuedNames.includes(`-${whole}`)) {
      given.add(whole)
      take(whole)
      return
    }
    for (let at = 0; at < whole.length; at += 1) {
      const letter = whole.charAt(at)
      given.add(letter)
      if (!valuedNames.includes(letter)) continue
      const rest = whole.slice(at + 1)
      if (rest === '') take(letter)
      else values.push([letter, argOf(rest)])
      return
    }
  }

  function take(name: string): void {
    index += 1
    const next = args[index]
    if (next !== undefined) values.push([name, next])
  }

  /** Long names may be shortened. */
  function fullName(name: string): string {
    if (valuedNames.includes(name)) return name
    return valuedNames.find((full) => full.length > 2 && name.length > 2 && full.startsWith(name)) ?? name
  }
}
