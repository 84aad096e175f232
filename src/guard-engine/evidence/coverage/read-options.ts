import { isKnown } from '../../../shell/unknown-part.ts'
import type { RunnerOptions } from './runner-options.ts'

/** The arguments of a runner, by what they do to the check. */
export interface ReadOptions {
  /** Leave something out. Each is shown as it was written. */
  readonly less: readonly string[]
  /** Not in the table: they may leave something out. */
  readonly unknown: readonly string[]
  readonly more: readonly string[]
  readonly operands: readonly string[]
}

type Meaning = 'look' | 'less' | 'more'

export function readOptions(args: readonly string[], options: RunnerOptions): ReadOptions {
  const meanings = meaningsOf(options)
  const found: Record<Meaning | 'unknown' | 'operands', string[]> = {
    look: [],
    less: [],
    more: [],
    unknown: [],
    operands: [],
  }
  let isLiteral = false
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? ''
    const next = args[index + 1]
    if (arg === '--') {
      // The test programs of Cargo have their own options after it.
      isLiteral = options.operands !== 'filters'
    } else if (isLiteral || !/^-./.test(arg)) found.operands.push(arg)
    else {
      const { meaning, takes } = meaningOf(arg, next, meanings)
      found[meaning].push(takes && next !== undefined ? `${arg} ${next}` : arg)
      if (takes) index += 1
    }
  }
  return found
}

interface Known {
  readonly meaning: Meaning
  readonly value: 'none' | 'needed' | 'optional'
  /** The meaning with these values. */
  readonly exact: Map<string, Meaning>
}

const read = new WeakMap<RunnerOptions, Map<string, Known>>()

function meaningsOf(options: RunnerOptions): Map<string, Known> {
  const before = read.get(options)
  if (before !== undefined) return before
  const meanings = new Map<string, Known>()
  for (const meaning of ['look', 'less', 'more'] as const)
    for (const entry of (options[meaning] ?? '').split(' ').filter((each) => each !== '')) {
      const [, name = entry, sign = '', value = ''] = /^([^=?]+)([=?])?(.*)$/.exec(entry) ?? []
      const known = meanings.get(name)
      if (value !== '')
        meanings.set(name, {
          ...(known ?? { meaning: 'less', value: 'needed' }),
          exact: (known?.exact ?? new Map()).set(value, meaning),
        })
      else
        meanings.set(name, {
          meaning,
          // Listed with and without: only an attached value belongs to it.
          value: sign === '' || known?.value === 'none' ? 'none' : sign === '?' ? 'optional' : 'needed',
          exact: known?.exact ?? new Map(),
        })
    }
  read.set(options, meanings)
  return meanings
}

function meaningOf(
  arg: string,
  next: string | undefined,
  meanings: Map<string, Known>,
): { readonly meaning: Meaning | 'unknown'; readonly takes: boolean } {
  const [, name = arg, attached] = /^([^=]+)=(.*)$/s.exec(arg) ?? []
  const known = meanings.get(name) ?? (name.startsWith('--') ? meanings.get(name.slice(1)) : undefined)
  if (known !== undefined) {
    const takes =
      attached === undefined &&
      next !== undefined &&
      (known.value === 'needed' || (known.value === 'optional' && !next.startsWith('-')))
    const exact = known.exact.get(attached ?? next ?? '')
    return { meaning: exact ?? known.meaning, takes: exact === undefined ? takes : attached === undefined }
  }
  if (!/^-[a-zA-Z]/.test(arg) || !isKnown(arg.slice(0, 2))) return { meaning: 'unknown', takes: false }
  const short = meanings.get(arg.slice(0, 2))
  if (short !== undefined && short.value !== 'none')
    return { meaning: short.exact.get(arg.slice(2)) ?? short.meaning, takes: false }
  return cluster(arg, meanings)
}

/** `-xvs`: the strongest meaning of its letters. */
function cluster(
  arg: string,
  meanings: Map<string, Known>,
): { readonly meaning: Meaning | 'unknown'; readonly takes: boolean } {
  const letters = [...arg.slice(1)].map((letter) => meanings.get(`-${letter}`))
  if (letters.some((each) => each === undefined)) return { meaning: 'unknown', takes: false }
  const last = letters.at(-1)
  const order = ['less', 'more', 'look'] as const
  const meaning = order.find((each) => letters.some((letter) => letter?.meaning === each)) ?? 'unknown'
  const isSplit = letters.slice(0, -1).some((letter) => letter?.value === 'needed')
  return { meaning: isSplit ? 'unknown' : meaning, takes: last?.value === 'needed' }
}
