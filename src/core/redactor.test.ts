import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from './redactor.ts'

const { text: redact } = createRedactor()
const { text: redactAll } = createRedactor({ personal: true })

const alnum = 'abcdefghij0123456789ABCDEFGHIJ'

/** Texts with a secret in each. The property tests use them too. */
const secrets: readonly [string, string][] = [
  [`key sk-${alnum} end`, 'key sk-[REDACTED] end'],
  [`sk-ant-api03-${alnum}_${alnum}-AA`, 'sk-ant-[REDACTED]'],
  [`sk-proj-${alnum}_-x`, 'sk-proj-[REDACTED]'],
  ['curl -H "Authorization: Bearer abc123.def-456"', 'curl -H "Authorization: Bearer [REDACTED]"'],
  ['authorization: basic dXNlcjpwYXNz', 'authorization: basic [REDACTED]'],
  ['api_key: 12345', 'api_key: [REDACTED]'],
  ['api-key=12345', 'api-key=[REDACTED]'],
  ['apikey : 12345, next', 'apikey : [REDACTED], next'],
  ['OPENAI_API_KEY=abc123 make', 'OPENAI_API_KEY=[REDACTED] make'],
  ['{"token": "abc \\"def\\" ghi", "n": 1}', '{"token": "[REDACTED]", "n": 1}'],
  ['{\\"accessToken\\":\\"abc def\\",\\"n\\":1}', '{\\"accessToken\\":\\"[REDACTED]\\",\\"n\\":1}'],
  ["password: 'hunter two'", "password: '[REDACTED]'"],
  ['password: hunter2\nnext', 'password: [REDACTED]\nnext'],
  ['secret="abc', 'secret="[REDACTED]'],
  ['passphrase => correct', 'passphrase => [REDACTED]'],
  ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', 'aws_secret_access_key = [REDACTED]'],
  ['tool --token abc --password=def -v', 'tool --token [REDACTED] --password=[REDACTED] -v'],
  ['https://x.test/?token=abc&page=2', 'https://x.test/?token=[REDACTED]&page=2'],
  ['AKIAIOSFODNN7EXAMPLE', 'AKIA[REDACTED]'],
  [`ghp_${alnum}123456`, 'ghp_[REDACTED]'],
  [`github_pat_11ABC_${alnum}`, 'github_pat_[REDACTED]'],
  [`AIza${alnum}_-abc`, 'AIza[REDACTED]'],
  ['xoxb-123456789012-abcdef', 'xoxb-[REDACTED]'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_def', 'eyJ[REDACTED]'],
  ['postgres://admin:p%40ss@db.test:5432/x', 'postgres://admin:[REDACTED]@db.test:5432/x'],
  [
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEpAIB+/=\n-----END RSA PRIVATE KEY-----\nafter',
    '-----BEGIN RSA PRIVATE KEY-----[REDACTED]-----END RSA PRIVATE KEY-----\nafter',
  ],
]

const personal: readonly [string, string][] = [
  ['write to jane.doe+x@mail.example.com today', 'write to [REDACTED] today'],
  ['/home/jane/project/a.ts', '/home/[REDACTED]/project/a.ts'],
  ['cd /Users/jane', 'cd /Users/[REDACTED]'],
  ['C:\\Users\\Jane Doe\\x', 'C:\\Users\\[REDACTED]\\x'],
  ['"C:\\\\Users\\\\jane\\\\x"', '"C:\\\\Users\\\\[REDACTED]\\\\x"'],
]

test.each(secrets)('%j becomes %j', (before, after) => {
  expect(redact(before)).toBe(after)
})

test.each(personal)('%j is personal and becomes %j', (before, after) => {
  expect(redactAll(before)).toBe(after)
})

test('personal data is kept by default, so paths stay usable', () => {
  for (const [before] of personal) expect(redact(before)).toBe(before)
})

test.each([
  'input_tokens: 12, output_tokens: 7, max_tokens=100',
  'the token was accepted',
  'task-management-and-some-more-kebab-case',
  'Bearer token and Bearer authentication',
  '"secret": false, "password": null',
  'pkg@1.2.3 @scope/name@4.0.0 user@host',
  'git diff --stat HEAD~1 && npm test -- --run',
  'https://x.test:8080/a@b',
  '/homework/jane/ and /usr/home',
  'sk-short AKIAshort eyJ.x',
  'a password-stdin flag, a secretary, tokenize: yes',
  'cat: link-secret: No such file or directory\nget-token: command not found',
])('%j is unchanged', (text) => {
  expect(redactAll(text)).toBe(text)
})

test('a truncated key is hidden', () => {
  const cut = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n'
  expect(redact(cut)).toBe('-----BEGIN PRIVATE KEY-----[REDACTED]')
})

test('a second value is found too', () => {
  expect(redact('token: token: abc')).toBe('token: [REDACTED] [REDACTED]')
  expect(redact('bearer token: xyz')).toBe('bearer token: [REDACTED]')
  expect(redact('token: Bearer xyz123')).toBe('token: [REDACTED] [REDACTED]')
})

test('known values are found verbatim, in JSON and in a URL, except short ones', () => {
  const { text } = createRedactor({ secrets: ['s3cr"t/value', '1', ''] })
  expect(text('a s3cr"t/value b')).toBe('a [REDACTED] b')
  expect(text(JSON.stringify({ a: 's3cr"t/value' }))).toBe('{"a":"[REDACTED]"}')
  expect(text('?q=s3cr%22t%2Fvalue&n=1')).toBe('?q=[REDACTED]&n=1')
})

test('a known value with a lone surrogate is handled', () => {
  expect(createRedactor({ secrets: ['abcdef\ud800'] }).text('x')).toBe('x')
})

test('user patterns are applied in linear time', () => {
  const { text } = createRedactor({ patterns: ['ACME-[0-9]+', '(a+)+$', 'x*'] })
  expect(text('id ACME-123 and ACME-7.')).toBe('id [REDACTED] and [REDACTED].')
  expect(text(`${'a'.repeat(50_000)}!`)).toHaveLength(50_001)
})

test('a pattern that does not parse is a usage error that names it', () => {
  expect(() => createRedactor({ patterns: ['(?=x)'] })).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('(?=x)') }),
  )
})

const pieces = fc.oneof(
  fc.constantFrom(...secrets.map(([text]) => text), ...personal.map(([text]) => text)),
  fc.constantFrom(
    'token',
    'password',
    ':',
    '=',
    '"',
    "'",
    '\\',
    ' ',
    '\n',
    '@',
    '/home/',
    '://',
    'sk-',
    'eyJ',
    '-----BEGIN ',
    '[REDACTED]',
    '[REDACTED',
    'Bearer ',
    '--',
  ),
  fc.string({ maxLength: 12 }),
)
const anyText = fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(''))

test('redacting twice equals redacting once', () => {
  const patterns = ['E', '.x.', '[a-c]+']
  for (const { text } of [
    createRedactor(),
    createRedactor({ personal: true, secrets: ['REDACT', 'hunter2'], patterns }),
  ])
    fc.assert(
      fc.property(anyText, (original) => {
        const once = text(original)
        expect(text(once)).toBe(once)
      }),
      { numRuns: 300 },
    )
})

test('the result is never much longer', () => {
  fc.assert(
    fc.property(anyText, (original) => {
      expect(redactAll(original).length).toBeLessThanOrEqual(original.length * 3 + 20)
    }),
  )
})

test('a secret is removed anywhere in a line', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      expect(redact(`${before} sk-${alnum} ${after}`)).not.toContain(alnum)
      expect(redact(`${before}\npassword: "${alnum}"\n${after}`)).not.toContain(alnum)
    }),
  )
})

test('nested data is redacted by content and by name, and unchanged data is not copied', () => {
  const { value } = createRedactor()
  const clean = { a: [1, 'x', { b: null }], tokens: { input: 1 } }
  expect(value(clean)).toBe(clean)
  const dirty = {
    env: { GITHUB_TOKEN: 'abc', PATH: '/bin', retries: 3 },
    list: ['password: x', 'fine'],
    password: '',
    apiKey: 'k',
    secret: { nested: 'kept' },
    [`sk-${alnum}`]: true,
  }
  expect(value(dirty)).toEqual({
    env: { GITHUB_TOKEN: '[REDACTED]', PATH: '/bin', retries: 3 },
    list: ['password: [REDACTED]', 'fine'],
    password: '',
    apiKey: '[REDACTED]',
    secret: { nested: 'kept' },
    'sk-[REDACTED]': true,
  })
})

test('hostile data neither overflows the stack nor changes the prototype', () => {
  const { value } = createRedactor()
  let deep: unknown = 'password: x'
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
  expect(JSON.stringify(value(deep))).toContain('[REDACTED]')
  const parsed = JSON.parse('{"__proto__": {"a": "password: x"}, "b": "password: y"}')
  expect(JSON.stringify(value(parsed))).toBe(
    '{"__proto__":{"a":"password: [REDACTED]"},"b":"password: [REDACTED]"}',
  )
})

test('values below a name of a secret are hidden in lists, headers and arguments too', () => {
  const { value, text } = createRedactor()
  expect(
    value({
      headers: { Authorization: 'Basic dXNlcjpwYXNz', 'Set-Cookie': 'session=1' },
      argv: ['curl', '--password', 'hunter2secret', '--token', '--verbose'],
      password: ['hunter2b', ['deep']],
      pin: { secret: 12_345_678, token: 5 },
      credentials: { user: 'ann', password: 'x' },
    }),
  ).toEqual({
    headers: { Authorization: '[REDACTED]', 'Set-Cookie': '[REDACTED]' },
    argv: ['curl', '--password', '[REDACTED]', '--token', '--verbose'],
    password: ['[REDACTED]', ['[REDACTED]']],
    pin: { secret: '[REDACTED]', token: 5 },
    credentials: { user: 'ann', password: '[REDACTED]' },
  })
  expect(text('{"password":["x1","y2"],"a":1}')).toBe('{"password":["[REDACTED]","[REDACTED]"],"a":1}')
  expect(text('{"token":{"count":3}}')).toBe('{"token":{"count":3}}')
})
