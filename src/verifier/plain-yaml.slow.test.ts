import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSource } from '../io/yaml-source.ts'
import { plainYaml } from './plain-yaml.ts'

const pieces = [
  ...['a', 'b', 'name', 'true', 'null', '1', '08', '1.5', '-1', '.', '/', '~', '<<'],
  ...[': ', ':', ' ', '  ', '    ', '\n', '\n  ', '\n    ', '- ', '-', '\n- ', '\n  - '],
  ...[
    '{',
    '}',
    '[',
    ']',
    ', ',
    ',',
    '"',
    "'",
    '#',
    ' # ',
    '&x',
    '*x',
    '!',
    '|',
    '>',
    '\\',
    '?',
    '@',
    '%',
    '---',
  ],
]

test('whatever it answers, the whole parser answers the same', () => {
  let answered = 0
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((parts) => parts.join(''))
  const keyed = fc
    .array(text, { maxLength: 3 })
    .map((values) => values.map((value, at) => `k${at}: ${value}`).join('\n'))
  fc.assert(
    fc.property(fc.oneof(text, keyed), (given) => {
      const value = plainYaml(given)
      if (value === null) return
      answered += 1
      const source = parseSource(given, 'a.yaml')
      expect(source.kind === 'parsed' ? source.value : source.problems).toEqual(value)
    }),
    { numRuns: 60_000 },
  )
  expect(answered).toBeGreaterThan(300)
})
