import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { definedVariables, expandVariables } from './expand.ts'

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/)

test('names in braces become their values, once', () => {
  const env = { A: '1', B: `\${A}`, EMPTY: '' }
  expect(expandVariables(`\${A}-\${B}-\${EMPTY}-\${A}`, env)).toEqual({ text: `1-\${A}--1`, missing: [] })
})

test('nothing else is special', () => {
  const text = `$A $$ $\${ \${} \${1} \${A-x} \${ A } $(A) \\`
  expect(expandVariables(text, { A: '1' })).toEqual({ text, missing: [] })
})

test('a name without a value stays as written and is reported once', () => {
  const { text, missing } = expandVariables(`\${X} \${Y} \${X} \${constructor}`, { Y: undefined })
  expect(text).toBe(`\${X} \${Y} \${X} \${constructor}`)
  expect(missing).toEqual(['X', 'Y', 'constructor'])
})

test('text without a dollar sign is unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const plain = text.replaceAll('$', '')
      expect(expandVariables(plain, {})).toEqual({ text: plain, missing: [] })
    }),
  )
})

test('the text between variables is kept', () => {
  const piece = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('$', ''))
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, name, fc.string())), (parts) => {
      const env = Object.fromEntries(parts.map(([, key, value]) => [key, value]))
      const text = parts.map(([before, key]) => `${before}\${${key}}`).join('')
      const expected = parts.map(([before, key]) => `${before}${env[key]}`).join('')
      expect(expandVariables(text, env)).toEqual({ text: expected, missing: [] })
    }),
  )
})

test('names without a value are left out, empty values are kept', () => {
  expect(definedVariables({ PATH: '/bin', NOTHING: undefined, EMPTY: '' })).toEqual({
    PATH: '/bin',
    EMPTY: '',
  })
})
