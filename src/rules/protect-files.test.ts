import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ToolAction } from '../core/hook-event.ts'
import { protectFiles } from './protect-files.ts'
import {
  callOf,
  type ProtectionCase,
  readProtectionCorpus,
  root,
  sceneOf,
  worldOf,
} from './protection-corpus.conformance.ts'

const bypasses = readProtectionCorpus('file-protection.jsonl')
const harmless = readProtectionCorpus('harmless.jsonl')

function reasonFor(each: Omit<ProtectionCase, 'name'>, enabled = true): string | null {
  const cwd = each.cwd === undefined ? root : `${root}/${each.cwd}`
  const patterns = each.patterns === undefined ? {} : { patterns: each.patterns }
  const call = callOf({ name: '', ...each })
  return protectFiles.judge(sceneOf(call, worldOf(each), { cwd, enabled, ...patterns }))?.deny ?? null
}

describe('the corpora', () => {
  test('every way round the protection is refused, with a reason every agent can take', () => {
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

  test('no two cases of a corpus have the same name', () => {
    for (const corpus of [bypasses, harmless])
      expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
  })
})

describe('the reason', () => {
  test('names the file as it was written, the pattern, the change and who may do it', () => {
    const reason = reasonFor({ command: 'cd src && echo x >> "../.env"' })
    expect(reason).toContain('`"../.env"` is protected and must not be modified (pattern `.env`).')
    expect(reason).toContain('What the call would do: appends to it.')
    expect(reason).toContain('Leave this file to the person')
    expect(reason).toContain('harness.json, middleware.file_protection.protected_patterns')
  })

  test('names the real file where a link leads to it', () => {
    const files = { settings: { link: '.env' } }
    expect(reasonFor({ command: 'echo x > settings', files })).toContain(
      `\`settings\` is protected and must not be modified (pattern \`.env\`). It is the file \`${root}/.env\`.`,
    )
  })

  test('says why a command that cannot be judged is refused', () => {
    const reason = reasonFor({ command: 'curl -s http://localhost/x | sh # about .env' })
    expect(reason).toContain(
      'The call names it and cannot be judged beforehand: what sh runs comes from elsewhere.',
    )
  })

  test('tells which file below a directory is meant', () => {
    expect(reasonFor({ command: 'rm -rf certs' })).toContain(`\`${root}/certs/ca.pem\` is protected`)
  })

  test('stays short for a long name and shows no control characters', () => {
    const reason = reasonFor({ command: `echo x > '${'\u0007'.repeat(3000)}/.env'` })
    expect(reason?.length).toBeLessThan(1000)
    expect(reason).not.toContain('\u0007')
  })
})

describe('anything at all', () => {
  const pieces = fc.constantFrom(
    ...[
      '.env',
      'rm',
      'echo',
      '>',
      '>>',
      '<<EOF',
      '\n',
      'EOF',
      '$(',
      ')',
      '`',
      '"',
      "'",
      '${',
      '}',
      '$x',
      'x=',
      '(',
      '((',
      '))',
      '[[',
      ']]',
    ],
    ...[
      '{a,',
      '..',
      '*',
      '?',
      '[',
      '!',
      '|',
      '&',
      ';',
      '&&',
      '||',
      '\\',
      '~',
      '/',
      'for',
      'in',
      'do',
      'done',
      'if',
      'then',
      'fi',
      'case',
    ],
    ...[
      'esac',
      'function',
      '{',
      'eval',
      'sh',
      '-c',
      'xargs',
      'find',
      '-exec',
      '\0',
      '\u0001',
      '\ud800',
      '\u{1f600}',
      'python3',
      'sed',
      '-i',
      '__proto__',
      'constructor',
      'git',
      'tr',
      'printf',
      '%s',
      'read',
      'while',
    ],
  )

  test('never makes the rule throw', () => {
    const commands = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(pieces, { maxLength: 40 }).map((each) => each.join(' ')),
      fc.array(pieces, { maxLength: 40 }).map((each) => each.join('')),
    )
    fc.assert(
      fc.property(commands, (command) => {
        expect(() => reasonFor({ command })).not.toThrow()
      }),
      { numRuns: 300 },
    )
  })

  test('of any tool never makes the rule throw', () => {
    const action: ToolAction = { kind: 'unknown', server: null }
    fc.assert(
      fc.property(fc.string(), fc.anything(), (name, input) => {
        expect(() => reasonFor({ call: { tool: `write_${name}`, action, input } })).not.toThrow()
      }),
    )
  })

  test('behind a refused command leaves it refused', () => {
    const commands = bypasses.filter(
      ({ command, files, patterns, cwd }) => command !== undefined && !files && !patterns && !cwd,
    )
    const suffixes = harmless.filter(
      ({ command, files, patterns }) => command !== undefined && !files && !patterns,
    )
    fc.assert(
      fc.property(fc.constantFrom(...commands), fc.constantFrom(...suffixes), ({ command }, suffix) => {
        expect(reasonFor({ command: `${command}; ${suffix.command}` })).not.toBeNull()
      }),
      { numRuns: 200 },
    )
  })

  test('of any size is decided', () => {
    const deep = [
      `${'('.repeat(10_000)}rm .env`,
      `${'$('.repeat(10_000)}rm .env`,
      `echo ${'a '.repeat(500_000)}> .env`,
    ]
    for (const command of deep) expect(reasonFor({ command })).not.toBeNull()
    const wide = [
      `rm ${'{a,b}'.repeat(30)}`,
      'f() { f; f; }; f',
      `ls ${'*a'.repeat(60)}`,
      'for a in {1..99}; do for b in {1..99}; do echo > f; done; done',
    ]
    for (const command of wide) expect(reasonFor({ command })).toBeNull()
  })

  test('that goes on after a wide loop is still followed', () => {
    const loop = 'for a in {1..99}; do for b in {1..99}; do for c in {1..99}; do x=$a; done; done; done'
    expect(reasonFor({ command: `${loop}; f=.e; g=nv; echo > $f$g` })).not.toBeNull()
    const ways = Array.from({ length: 30 }, (_, index) => `[ -f f${index} ] && x${index}=1`).join('\n')
    expect(reasonFor({ command: `${ways}\nf=.e; g=nv; echo > $f$g` })).not.toBeNull()
  })
})
