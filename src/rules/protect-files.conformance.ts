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
import { expect } from 'vitest'
import { openWorld } from '../guard-engine/open-world.ts'
import { protectedPaths } from '../guard-engine/protected-path.ts'
import {
  callOf,
  defaultPatterns,
  type ProtectionCase,
  projectFiles,
  readProtectionCorpus,
  sceneOf,
} from '../guard-engine/protection-corpus.conformance.ts'
import { protectFiles } from './protect-files.ts'

/** Every command of these must be refused, and must change a protected file in a real shell. Returns how many were tried. */
export async function tryBypasses(cases: readonly ProtectionCase[]): Promise<number> {
  const results = await inTurns(cases, 4, tryOut)
  const tried = results.filter(({ kind }) => kind !== 'no program')
  expect(tried.filter(({ kind }) => kind === 'unchanged').map(({ name }) => name)).toEqual([])
  expect(tried.filter(({ kind }) => kind === 'let through').map(({ name }) => name)).toEqual([])
  return tried.length
}

/** Those of the corpus whose effect can be seen in a project on disk. */
export function verifiableBypasses(): readonly ProtectionCase[] {
  return readProtectionCorpus('file-protection').filter(({ verify }) => verify === true)
}

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

/** The state of the protected files, with their modification times. */
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
