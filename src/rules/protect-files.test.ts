import { describe, expect, test } from 'vitest'
import { readProtectionCorpus, reasonFor, root } from '../guard-engine/protection-corpus.conformance.ts'

const bypasses = readProtectionCorpus('file-protection')
const harmless = readProtectionCorpus('harmless')

describe('the corpora', () => {
  test('every bypass is refused with a reason that every agent accepts', () => {
    expect(bypasses.length).toBeGreaterThanOrEqual(170)
    const reasons = bypasses.map((each) => ({ name: each.name, length: reasonFor(each)?.length ?? null }))
    expect(reasons.filter(({ length }) => length === null).map(({ name }) => name)).toEqual([])
    expect(reasons.filter(({ length }) => (length ?? 0) >= 1000).map(({ name }) => name)).toEqual([])
  })

  test('every harmless command passes', () => {
    expect(harmless.length).toBeGreaterThanOrEqual(220)
    const refused = harmless.map((each) => ({ name: each.name, reason: reasonFor(each) }))
    expect(refused.filter(({ reason }) => reason !== null)).toEqual([])
  })

  test('nothing is refused when the rule is off', () => {
    expect(bypasses.filter((each) => reasonFor(each, false) !== null).map(({ name }) => name)).toEqual([])
  })

  test('the names in a corpus are unique', () => {
    for (const corpus of [bypasses, harmless])
      expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
  })
})

/** A pattern that searches the rest again from every place takes longer than a hook may, and then nothing is refused. */
test.each([
  `python3 -c "chr${' '.repeat(50_000)}"`,
  `python3 -c "${' '.repeat(50_000)}x"`,
  `python3 -c "${'print() '.repeat(6_000)}@"`,
  `vim -es -c '${'\n'.repeat(50_000)}' notes.md`,
  `sqlite3 a.db '${' \n'.repeat(25_000)}'`,
  `echo ${'.'.repeat(50_000)}`,
  `kill $(cat ${'guard'.repeat(10_000)})`,
])('%.20j and much more does not hide what follows', (command) => {
  expect(reasonFor({ command: `${command}; echo x > .env` })).not.toBeNull()
})

describe('the reason', () => {
  test('does not name the project as the directory that goes', () => {
    const files = { '.git/HEAD': 'file', '.env': 'file' } as const
    expect(reasonFor({ command: 'git clean -fdx', files })).toContain(
      'would do: git clean removes it. Do not',
    )
  })

  test('names the file as written, the pattern, the change and who may do it', () => {
    const reason = reasonFor({ command: 'cd src && echo x >> "../.env"' })
    expect(reason).toContain('`"../.env"` is protected and must not be modified (pattern `.env`).')
    expect(reason).toContain('What the call would do: appends to it.')
    expect(reason).toContain('Do not change this file')
    expect(reason).toContain('harness.json, middleware.file_protection.protected_patterns')
  })

  test('names the real file behind a link', () => {
    const files = { settings: { link: '.env' } }
    expect(reasonFor({ command: 'echo x > settings', files })).toContain(
      `\`settings\` is protected and must not be modified (pattern \`.env\`). It is the file \`${root}/.env\`.`,
    )
  })

  test('explains why a command that cannot be judged is refused', () => {
    const reason = reasonFor({ command: 'curl -s http://localhost/x | sh # about .env' })
    expect(reason).toContain(
      'The call names it and cannot be judged beforehand: what sh runs comes from elsewhere.',
    )
  })

  test('names the file below a directory', () => {
    expect(reasonFor({ command: 'rm -rf certs' })).toContain(`\`${root}/certs/ca.pem\` is protected`)
  })

  test('stays short for a long name and shows no control characters', () => {
    const reason = reasonFor({ command: `echo x > '${'\u0007'.repeat(3000)}/.env'` })
    expect(reason?.length).toBeLessThan(1000)
    expect(reason).not.toContain('\u0007')
  })
})
