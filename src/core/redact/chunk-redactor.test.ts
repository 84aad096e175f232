import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../redactor.ts'
import { createChunkRedactor } from './chunk-redactor.ts'

const key = `sk-${'abcdefghij0123456789'.repeat(2)}`
const pem =
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END PRIVATE KEY-----\n'

test('a secret cut in two is caught', () => {
  const chunks = createRedactor().chunks()
  expect(chunks.push(`key ${key.slice(0, 10)}`)).toBe('')
  expect(chunks.push(`${key.slice(10)}\nnext`)).toBe('key sk-[REDACTED]\n')
  expect(chunks.end()).toBe('next')
})

test('bytes are joined across chunks, also inside a character', () => {
  const bytes = new TextEncoder().encode(`grün ${key} ✓\n`)
  const chunks = createRedactor().chunks()
  const out = [...bytes].map((byte) => chunks.push(Uint8Array.of(byte))).join('') + chunks.end()
  expect(out).toBe('grün sk-[REDACTED] ✓\n')
})

test('a private key is buffered until it is complete', () => {
  const chunks = createRedactor().chunks()
  const lines = `before\n${pem}after\n`.split(/(?<=\n)/)
  const out = lines.map((line) => chunks.push(line)).join('') + chunks.end()
  expect(out).toBe('before\n-----BEGIN PRIVATE KEY-----[REDACTED]-----END PRIVATE KEY-----\nafter\n')
})

test('a BEGIN without END is not buffered forever', () => {
  const chunks = createRedactor().chunks()
  let out = chunks.push('-----BEGIN PRIVATE KEY-----\n')
  for (let line = 0; line < 2_000; line += 1) out += chunks.push(`this is prose, line ${line}!\n`)
  expect(out).toContain('line 1000!')
})

test('a known secret with line breaks is caught', () => {
  const secret = 'first line\nsecond line\nthird'
  const chunks = createRedactor({ secrets: [secret] }).chunks()
  const out = [...`a\nfirst line\nsecond line\nthird b\nfirst line\nother\n`]
    .map((char) => chunks.push(char))
    .join('')
  expect(out + chunks.end()).toBe('a\n[REDACTED] b\nfirst line\nother\n')
})

test('any split gives the same result as redacting the whole text', () => {
  const redactor = createRedactor({ personal: true, secrets: ['multi\nline secret', 'hunter2'] })
  const piece = fc.oneof(
    fc.constantFrom(
      key,
      pem,
      'password: "a b"',
      'multi\nline secret',
      'multi\nline',
      'hunter2',
      'a@b.test',
      '/home/jane/x',
      '\n',
      ' ',
      '\r',
      '😀',
    ),
    fc.string({ maxLength: 10 }),
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.array(fc.nat(60), { minLength: 1 }),
      (parts, sizes) => {
        const whole = parts.join('')
        const chunks = redactor.chunks()
        let out = ''
        let at = 0
        for (let turn = 0; at < whole.length; turn += 1) {
          const size = (sizes[turn % sizes.length] ?? 0) + 1
          out += chunks.push(whole.slice(at, at + size))
          at += size
        }
        expect(out + chunks.end()).toBe(redactor.text(whole))
      },
    ),
    { numRuns: 500 },
  )
})

test('an endless line is written in limited pieces, never cut inside a secret', () => {
  const redactor = createRedactor()
  const chunks = createChunkRedactor({
    redact: redactor.text,
    findSpans: (text) =>
      [...text.matchAll(/sk-[a-z0-9]+/g)].map((m) => ({ start: m.index, end: m.index + m[0].length })),
    multiline: [],
    maxHeld: 1_000,
  })
  let out = ''
  let pushed = 0
  for (let turn = 0; turn < 500; turn += 1) {
    const text = `word ${key} `
    pushed += text.length
    out += chunks.push(text)
  }
  expect(pushed).toBeGreaterThan(10_000)
  expect(out.length).toBeGreaterThan(3_000)
  out += chunks.end()
  expect(out).toBe('word sk-[REDACTED] '.repeat(500))
})

test('megabytes in small pieces without a line break are fast', () => {
  const chunks = createRedactor().chunks()
  for (let turn = 0; turn < 60_000; turn += 1) chunks.push('progress 50 percent ')
  chunks.end()
})

test('a known secret of line breaks does not buffer the text forever', () => {
  const chunks = createRedactor({ secrets: ['\n\n\n\n\n\nx'] }).chunks()
  let out = ''
  for (let turn = 0; turn < 300; turn += 1) out += chunks.push('\n'.repeat(4_000))
  expect(out.length).toBeGreaterThan(100_000)
  expect(out + chunks.end()).toHaveLength(1_200_000)
})
