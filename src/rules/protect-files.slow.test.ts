import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import type { ToolAction } from '../core/hook-event.ts'
import { readProtectionCorpus, reasonFor } from '../guard-engine/protection-corpus.conformance.ts'
import { tryBypasses, verifiableBypasses } from './protect-files.conformance.ts'

const bypasses = readProtectionCorpus('file-protection')
const harmless = readProtectionCorpus('harmless')

test('every tenth bypass in the corpus changes a protected file in a real shell; the long suite tries all', async () => {
  const some = verifiableBypasses().filter((_, index) => index % 10 === 3)
  expect(await tryBypasses(some)).toBeGreaterThanOrEqual(20)
})

describe('any command', () => {
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
      fc.string({ unit: anyCharacter, maxLength: 200 }),
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

  test('that continues is still followed after a wide loop', () => {
    const loop = 'for a in {1..99}; do for b in {1..99}; do for c in {1..99}; do x=$a; done; done; done'
    expect(reasonFor({ command: `${loop}; f=.e; g=nv; echo > $f$g` })).not.toBeNull()
    const ways = Array.from({ length: 30 }, (_, index) => `[ -f f${index} ] && x${index}=1`).join('\n')
    expect(reasonFor({ command: `${ways}\nf=.e; g=nv; echo > $f$g` })).not.toBeNull()
  })
})
