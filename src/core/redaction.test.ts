import { describe, expect, test } from 'vitest'
import { createRedaction } from './redaction.ts'

describe('createRedaction', () => {
  test('hides the values of variables with a secret name, from every environment', () => {
    const { text } = createRedaction([], { MY_TOKEN: 'first-secret' }, { DB_PASSPHRASE: 'second-secret' })
    expect(text('a first-secret and a second-secret')).not.toMatch(/first-secret|second-secret/)
  })

  test('does not hide ordinary variables and short values', () => {
    const { text } = createRedaction([], { EDITOR: 'some-editor', API_KEY: 'short', TOKEN: undefined })
    expect(text('some-editor short')).toBe('some-editor short')
  })

  test('hides a secret that arrives in two pieces', () => {
    const { chunks } = createRedaction([], { MY_SECRET: 'cut-in-two-pieces' })
    const redactor = chunks()
    const encode = (text: string) => new TextEncoder().encode(text)
    const parts = [
      redactor.push(encode('x cut-in-')),
      redactor.push(encode('two-pieces y\n')),
      redactor.end(),
    ]
    const text = parts
      .map((part) => (typeof part === 'string' ? part : new TextDecoder().decode(part)))
      .join('')
    expect(text).not.toContain('cut-in-')
  })

  test('hides personal data only in shared output', () => {
    const { value, forPeople } = createRedaction([], {})
    const event = { text: 'write to jane@example.com' }
    expect(value(event)).toEqual(event)
    expect(JSON.stringify(forPeople(event))).not.toContain('jane')
  })

  test('refuses a pattern that does not parse', () => {
    expect(() => createRedaction(['('], {})).toThrow()
  })
})
