import type { Wrapper } from './wrapper.ts'

/** The sign of an option in the table. */
type OptionKind = '' | ':' | '?' | '::' | '/' | '!' | '&' | '>' | '@'

/** An option of the table, by its first synonym. */
interface TableOption {
  readonly kind: OptionKind
  readonly name: string
}

type TableOptions = ReadonlyMap<string, TableOption>

/** One way to read an option. */
export interface OptionReading extends TableOption {
  readonly attached?: string | undefined
  readonly isText: boolean
}

const kinds = new WeakMap<Wrapper, TableOptions>()

function optionsOf(wrapper: Wrapper): TableOptions {
  const known = kinds.get(wrapper)
  if (known !== undefined) return known
  const options = new Map<string, TableOption>([
    ['--help', { kind: '', name: '--help' }],
    ['--version', { kind: '', name: '--version' }],
  ])
  for (const entry of (wrapper.options ?? '').split(' ')) {
    const [, names = '', kind = ''] = /^([^:?/!&>@]*)(.*)$/.exec(entry) ?? []
    const [name = ''] = names.split(',')
    for (const each of names.split(','))
      if (each !== '') options.set(each, { kind: kind as OptionKind, name })
  }
  kinds.set(wrapper, options)
  return options
}

export function isOption(value: string, wrapper: Wrapper): boolean {
  if (wrapper.argumentsOf !== undefined && wrapper.afterDashes !== true) return false
  return (value.startsWith('-') && value.length > 1) || (value === '-' && optionsOf(wrapper).has('-'))
}

/** The ways to read an option, the most likely one first. An unknown one may be followed by a value. */
export function readOption(
  word: string,
  wrapper: Wrapper,
  next: string | undefined,
): readonly OptionReading[] {
  const options = optionsOf(wrapper)
  const whole = options.get(word)
  if (whole !== undefined) return [{ ...whole, isText: false }]
  if (/^--?\d+$/.test(word)) return [{ kind: '', name: word, isText: false }]
  const alone: OptionReading = { kind: '', name: word, isText: false }
  const valued: OptionReading = { kind: ':', name: word, isText: false }
  const isNumber = next !== undefined && /^\d+[\w.]*$/.test(next)
  const unclear = wrapper.attachedOnly ? [alone] : isNumber ? [valued, alone] : [alone, valued]
  if (word.startsWith('--')) {
    const [, name = word, attached] = /^(--[^=]+)=(.*)$/s.exec(word) ?? []
    const found = longOption(options, name)
    // It may have any meaning, so that the command is unclear although its place is not.
    if (found === null) return attached === undefined ? unclear : [alone, alone]
    return [{ ...found, attached, isText: false }]
  }
  let isText = false
  let isKnown = true
  let read: OptionReading | null = null
  for (let at = 1; at < word.length && read === null; at += 1) {
    const option = options.get(`-${word.charAt(at)}`)
    if (option === undefined) isKnown = false
    else if (option.kind === '&') isText = true
    else if (option.kind !== '') {
      const rest = word.slice(at + 1)
      read = { ...option, attached: rest === '' ? undefined : rest, isText }
    }
  }
  const [likely, ...others] = [...(read === null ? [] : [read]), ...(isKnown && read !== null ? [] : unclear)]
  if (isKnown) return [read ?? { ...alone, isText }]
  return likely === undefined ? unclear : [likely, ...others]
}

/** Long names may be shortened. null when the name is unknown, or may be several that differ. */
function longOption(options: TableOptions, name: string): TableOption | null {
  const exact = options.get(name)
  if (exact !== undefined) return exact
  let found: TableOption | null = null
  for (const [full, option] of options) {
    if (!full.startsWith(name)) continue
    if (found !== null && found.kind !== option.kind) return null
    found ??= option
  }
  return found
}
