import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PluginConfig, pluginConfigSchema } from '../config/keys/schema.ts'
import { createSanitizer, createSanitizers, oversized } from './create-sanitizer.ts'

type Sanitization = Partial<PluginConfig['output']['sanitization']>

const output = (sanitization: Sanitization = {}, where: Partial<PluginConfig['output']> = {}) => ({
  ...pluginConfigSchema.parse({}).output,
  ...where,
  sanitization: { ...pluginConfigSchema.parse({}).output.sanitization, ...sanitization },
})

const personal = createSanitizer(output({ enabled: true }))

describe('built-in patterns', () => {
  test.each([
    ['write to jane.doe+x@mail.example.co.uk, please', 'write to [REDACTED_EMAIL], please'],
    ['jürgen@größe.example', '[REDACTED_EMAIL]'],
    ['call 555-123-4567 or (555) 123-4567', 'call [REDACTED_PHONE] or [REDACTED_PHONE]'],
    ['call +1 555.123.4567 or +15551234567.', 'call [REDACTED_PHONE] or [REDACTED_PHONE].'],
    ['ssn 123-45-6789', 'ssn [REDACTED_SSN]'],
    ['card 4111 1111 1111 1111 12/27', 'card [REDACTED_CARD] 12/27'],
    ['card 4111-1111-1111-1111 2027', 'card [REDACTED_CARD] 2027'],
    ['378282246310005', '[REDACTED_CARD]'],
    ['GET https://maps.test/v1?a=1&key=abc123&z=2', 'GET https://maps.test/v1?a=1&key=[REDACTED_KEY]&z=2'],
  ])('%s', (text, hidden) => {
    expect(personal(text)).toBe(hidden)
    expect(personal(hidden)).toBe(hidden)
  })

  test.each([
    'at 1731693000123 and 1731693000',
    'version 1.2.3-45-678',
    'ssn-like 000-12-3456, 666-12-3456 and 900-12-3456',
    '4111 1111 1111 1112 fails its check digit',
    'order 12345678901234567890123456789012345',
    '@decorator and a@b',
    'commit 4f2a1b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a',
    '192.168.100.2000',
  ])('%s stays', (text) => {
    expect(personal(text)).toBe(text)
  })

  test('are off by default, and secrets are always hidden', () => {
    const plain = createSanitizer(output())
    expect(plain('jane@example.test 555-123-4567')).toBe('jane@example.test 555-123-4567')
    expect(plain(`sk-ant-${'a1b2'.repeat(10)}`)).toBe('sk-ant-[REDACTED]')
  })

  test('apply to tool inputs, keys and numbers, and return unchanged values as they are', () => {
    const capture = {
      name: 'Bash',
      input: { command: 'mail jane@example.test', card: 4111111111111111, 'bob@example.test': 1 },
      timestamp: 1731693000123,
    }
    expect(personal(capture)).toEqual({
      name: 'Bash',
      input: { command: 'mail [REDACTED_EMAIL]', card: '[REDACTED_CARD]', '[REDACTED_EMAIL]': 1 },
      timestamp: 1731693000123,
    })
    const clean = { a: [1, 'two', null] }
    expect(personal(clean)).toBe(clean)
  })

  test('a text beyond the limit is replaced completely, one at the limit is not', () => {
    const capped = createSanitizer(output({ max_input_length: 1_000 }))
    expect(capped({ a: 'x'.repeat(1_001), b: 'x'.repeat(1_000) })).toEqual({
      a: oversized,
      b: 'x'.repeat(1_000),
    })
  })

  test.each(['1 ', '1', 'a@', 'a.', '1-', '?key=', '(555) ', '5-', '4111 ', '@a.'])(
    'a long text of repeated %j is scanned once',
    (piece) => {
      const text = piece.repeat(Math.floor(50_000 / piece.length))
      expect(personal(`${text} jane@example.test`).endsWith(' [REDACTED_EMAIL]')).toBe(true)
    },
  )

  test('sanitizing twice gives the same result', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'jane@example.test',
        '4111111111111111',
        '555-123-4567',
        '123-45-6789',
        ' ',
        '-',
        '?key=',
        '1',
      ),
      fc.string({ maxLength: 6 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
        const once = personal(parts.join(''))
        expect(personal(once)).toBe(once)
      }),
      { numRuns: 300 },
    )
  })
})

describe('patterns of the user', () => {
  const custom = (...custom_patterns: Sanitization['custom_patterns'] & {}) =>
    createSanitizer(output({ custom_patterns }))

  test('are applied in their order, after the built-in ones', () => {
    const sanitize = custom(
      { pattern: 'PROJ-\\d+', replacement: 'TICKET' },
      { pattern: 'TICKET', replacement: '[T]' },
    )
    expect(sanitize('see PROJ-12 and PROJ-3')).toBe('see [T] and [T]')
  })

  test('may keep a part of what they hide', () => {
    const sanitize = custom({ pattern: '(?P<who>user)=(\\w+)', replacement: '$1=<$<who>> $3 $$' })
    expect(sanitize('user=bob')).toBe('user=<user> $3 $')
  })

  test('that match the empty text replace nothing and end', () => {
    expect(custom({ pattern: 'x*', replacement: '!' })('axxb')).toBe('a!b')
  })

  test.each([
    ['(unclosed', 'is invalid'],
    ['(?=ahead)', 'lookaround'],
    ['(a+)+b', 'is unsafe'],
    ['x'.repeat(501), '501 characters'],
  ])('%s is refused', (pattern, message) => {
    expect(() => custom({ pattern, replacement: 'x' })).toThrow(message)
  })

  test('that are unsafe elsewhere run in linear time once acknowledged', () => {
    const sanitize = createSanitizer(
      output({
        custom_patterns: [{ pattern: '(a+)+b', replacement: '[A]' }],
        pattern_safety_acknowledged: true,
      }),
    )
    expect(sanitize(`${'a'.repeat(50_000)}c aab`)).toBe(`${'a'.repeat(50_000)}c [A]`)
  })
})

describe('the two places', () => {
  const text = 'jane@example.test'

  test('have separate switches', () => {
    const { transcripts, logs } = createSanitizers(output({ enabled: true }, { sanitize_transcripts: true }))
    expect([transcripts(text), logs(text)]).toEqual(['[REDACTED_EMAIL]', text])
    const other = createSanitizers(output({ enabled: true }, { sanitize_logs: true }))
    expect([other.transcripts(text), other.logs(text)]).toEqual([text, '[REDACTED_EMAIL]'])
  })

  test('hide secrets with the given redaction even when both are off', () => {
    const { transcripts } = createSanitizers(output(), {
      redact: (secret) => secret.replace('hunter2', '***'),
    })
    expect(transcripts({ a: 'hunter2' })).toEqual({ a: '***' })
  })
})
