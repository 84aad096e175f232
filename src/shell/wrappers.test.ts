import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { argOf } from './shell-state.ts'
import type { Wrapper } from './wrapper.ts'
import { describeWrappers } from './wrapper-table.ts'
import { unwrap, unwrapEveryReading } from './wrappers.ts'

interface Documented {
  readonly words: readonly string[]
  readonly runs: string
}

/** Options that change what the words after them are. */
const turning = /[!&>@]$/

/** Every wrapper that runs the words after its options, with the words that must stand before its options and after them. */
const callers = Object.entries(describeWrappers()).flatMap(([name, wrapper]) =>
  name === 'trap' ? [] : callsOf(wrapper, [name]),
)

describe('the documented options of a wrapper', () => {
  test('are those of more than 150 calls', () => {
    expect(callers.length).toBeGreaterThan(150)
  })

  test('are written as the table explains', () => {
    const entries = callers.flatMap(({ wrapper }) => (wrapper.options ?? '').split(' '))
    const form = /^(?:--?[\w.-]*(?:,--?[\w.-]*)*(?:::?|[?/!&>@])?)?$/
    expect(entries.filter((entry) => !form.test(entry))).toEqual([])
  })

  test('never hide the command, each for itself', () => {
    const hidden = callers.flatMap(({ before, wrapper }) =>
      optionsOf(wrapper)
        .map((option) => [...before, ...option, ...operandsOf(wrapper), 'tool', 'a'])
        .filter((words) => !readingsOf(words).some((each) => each.join(' ') === 'tool a')),
    )
    expect(hidden).toEqual([])
  })

  test('never change the command that is seen', () => {
    fc.assert(
      fc.property(call(), ({ words, runs }) => {
        const readings = readingsOf(words)
        expect(readings.map((each) => each.join(' '))).toContain(runs)
      }),
      { numRuns: 2000 },
    )
  })

  test('leave one reading, which is certain', () => {
    fc.assert(
      fc.property(call(), ({ words }) => {
        const [name = '', ...args] = words
        const found = unwrapEveryReading(name, args.map(argOf)) ?? []
        expect(found.map((reading) => reading.every(({ certain }) => certain))).toEqual([true])
      }),
      { numRuns: 500 },
    )
  })

  test('hide nothing beside options that are unknown', () => {
    const unknown = fc.constantFrom(['--zz-unknown'], ['--zz-unknown', 'value'], ['--zz-unknown=value'])
    fc.assert(
      fc.property(call(unknown), ({ words, runs }) => {
        const [name = '', ...args] = words
        const found = unwrapEveryReading(name, args.map(argOf)) ?? []
        expect(readingsOf(words).map((each) => each.join(' '))).toContain(runs)
        expect(found.flat().some(({ plain, launches }) => plain || launches)).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })
})

test('many unknown options are read in bounded time', () => {
  const unknown = Array.from({ length: 5000 }, (_, index) => `--unknown-${index}`)
  const found = unwrapEveryReading('sudo', [...unknown, 'rm', '.env'].map(argOf)) ?? []
  expect(found.some(([layer]) => layer?.kind === 'words' && layer.words.length === 2)).toBe(true)
  expect(unwrap('sudo', [...unknown, 'rm', '.env'].map(argOf))?.[0]?.certain).toBe(false)
  const valued = unknown.flatMap((option) => [option, 'value'])
  expect(unwrapEveryReading('sudo', [...valued, 'rm', '.env'].map(argOf))).toHaveLength(50)
})

interface Caller {
  readonly before: readonly string[]
  readonly wrapper: Wrapper
}

function callsOf(wrapper: Wrapper, before: readonly string[]): readonly Caller[] {
  const inner = Object.entries(wrapper.subcommands ?? {}).flatMap(([verb, sub]) =>
    callsOf(sub, [...before, ...operandsOf(wrapper), verb]),
  )
  const { subcommands, login, argumentsOf, skipped, describes } = wrapper
  const isPlain =
    subcommands === undefined && login === undefined && argumentsOf === undefined && describes === undefined
  return isPlain && skipped?.test('tool') !== true ? [{ before, wrapper }, ...inner] : inner
}

function call(unknown?: fc.Arbitrary<readonly string[]>): fc.Arbitrary<Documented> {
  return fc.constantFrom(...callers).chain(({ before, wrapper }) => {
    const options = optionsOf(wrapper)
    const known =
      options.length === 0 ? fc.constant([]) : fc.array(fc.constantFrom(...options), { maxLength: 4 })
    const added = wrapper.attachedOnly ? fc.constant(['--zz-unknown=value']) : unknown
    return fc
      .tuple(known, unknown === undefined || added === undefined ? fc.constant([]) : added)
      .map(([given, more]) => ({
        words: [...before, ...more, ...given.flat(), ...operandsOf(wrapper), 'tool', 'a'],
        runs: 'tool a',
      }))
  })
}

function operandsOf({ operands = 0 }: Wrapper): readonly string[] {
  return Array.from({ length: operands }, () => 'operand')
}

function optionsOf({ options = '' }: Wrapper): readonly (readonly string[])[] {
  return options
    .split(' ')
    .filter((entry) => entry !== '' && !turning.test(entry))
    .flatMap(spellings)
}

/** `-u,--user:` is `-u x`, `-ux`, `--user x` and `--user=x`. */
function spellings(entry: string): readonly (readonly string[])[] {
  const [, names = '', kind = ''] = /^([^:?/]*)(.*)$/.exec(entry) ?? []
  return names.split(',').flatMap((name): readonly (readonly string[])[] => {
    const isLong = name.length > 2
    const attached = isLong ? `${name}=x` : `${name}x`
    if (kind === '') return [[name]]
    if (kind === '?') return name.startsWith('--') || !isLong ? [[name], [attached]] : [[name]]
    if (kind === '::') return [[name, 'x', 'y']]
    return isLong && !name.startsWith('--') ? [[name, 'x']] : [[name, 'x'], [attached]]
  })
}

function readingsOf([name = '', ...args]: readonly string[]): readonly (readonly string[])[] {
  const readings = unwrapEveryReading(name, args.map(argOf)) ?? []
  return readings
    .flat()
    .map((each) =>
      each.kind === 'words' ? each.words.map(({ value }) => value) : [each.source.replaceAll('\n', ' ')],
    )
}
