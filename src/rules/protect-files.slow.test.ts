import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ToolAction } from '../core/hook-event.ts'
import { openWorld } from '../guard-engine/open-world.ts'
import { protectedPaths } from '../guard-engine/protected-path.ts'
import {
  callOf,
  defaultPatterns,
  type ProtectionCase,
  projectFiles,
  readProtectionCorpus,
  reasonFor,
  sceneOf,
} from '../guard-engine/protection-corpus.conformance.ts'
import { protectFiles } from './protect-files.ts'

const bypasses = readProtectionCorpus('file-protection.jsonl')
const harmless = readProtectionCorpus('harmless.jsonl')

test('what the corpus holds for a way round is one: the real shell changes a protected file', {
  timeout: 120_000,
}, async () => {
  const cases = bypasses.filter(({ verify }) => verify === true)
  const results = await inTurns(cases, 4, tryOut)
  const tried = results.filter(({ kind }) => kind !== 'no program')
  expect(tried.filter(({ kind }) => kind === 'unchanged').map(({ name }) => name)).toEqual([])
  expect(tried.filter(({ kind }) => kind === 'let through').map(({ name }) => name)).toEqual([])
  expect(tried.length).toBeGreaterThanOrEqual(250)
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

interface Result {
  readonly name: string
  readonly kind: 'changed' | 'unchanged' | 'let through' | 'no program'
}

async function tryOut(each: ProtectionCase): Promise<Result> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-protect-')))
  const root = join(home, 'app')
  try {
    makeProject(root)
    const world = openWorld({ root, home, env: {}, own: [] })
    if (protectFiles.judge(sceneOf(callOf(each), world, { cwd: root, at: root })) === null)
      return { name: each.name, kind: 'let through' }
    const before = snapshot(root)
    const { stderr } = await runBash(each.command ?? '', root, home)
    if (snapshot(root) !== before) return { name: each.name, kind: 'changed' }
    return {
      name: each.name,
      kind:
        /command not found|No such file or directory/.test(stderr) && /not found/.test(stderr)
          ? 'no program'
          : 'unchanged',
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function makeProject(root: string): void {
  mkdirSync(join(root, 'sub'), { recursive: true })
  for (const [path, entry] of Object.entries(projectFiles)) {
    if (path.startsWith('/') || typeof entry !== 'object' || !('text' in entry)) continue
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), entry.text)
  }
}

function runBash(command: string, cwd: string, home: string): Promise<{ readonly stderr: string }> {
  const env = { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, HOME: home, TMPDIR: home }
  return new Promise((resolve) => {
    execFile('/bin/bash', ['-c', command], { cwd, env, timeout: 20_000 }, (_error, _stdout, stderr) =>
      resolve({ stderr }),
    )
  })
}

/** Everything there is to know of the protected files, with the times of their last change. */
function snapshot(root: string): string {
  const paths = protectedPaths(defaultPatterns, root, '/nowhere')
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => paths.patternOf(join(root, name)) !== null)
    .sort()
    .map((name) => {
      const stats = statSync(join(root, name), { bigint: true, throwIfNoEntry: false })
      const content = stats?.isFile() === true ? readFileSync(join(root, name), 'latin1') : ''
      return [name, stats?.mode, stats?.mtimeNs, stats?.ctimeNs, stats?.nlink, content].join(' ')
    })
    .join('\n')
}

async function inTurns<In, Out>(
  list: readonly In[],
  width: number,
  work: (each: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = []
  const waiting = [...list]
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results.push(await work(next))
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}
