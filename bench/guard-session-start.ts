import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { treeFingerprint } from '../src/rules/facts/tree-fingerprint.ts'
import { lookAtProject } from '../src/rules/project/look-at-project.ts'
import { readSettings } from '../src/rules/settings/read-settings.ts'
import { type Figure, inTemporary, timed } from './figure.ts'

const files = 20_000
const atMostMs = 250
const rounds = 15

/** What the start of a session looks up: settings, the project and the fingerprint of its tree, as the guard gathers them. */
export function guardSessionStart(): Promise<Figure> {
  return inTemporary(async (root) => {
    await makeRepository(root)
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      appendFileSync(join(root, 'd7/f7.txt'), `${round}\n`)
      times.push(await timed(() => gather(root)))
    }
    times.sort((a, b) => a - b)
    const medianMs = times[Math.floor(rounds / 2)] ?? Number.NaN
    return {
      name: `facts of a session start in a repository of ${files} files`,
      limit: `at most ${atMostMs} ms`,
      ratio: medianMs / atMostMs,
      ok: medianMs <= atMostMs,
      detail: {
        medianMs,
        fastestMs: times.at(0) ?? Number.NaN,
        slowestMs: times.at(-1) ?? Number.NaN,
        rounds,
      },
    }
  })
}

async function gather(root: string): Promise<void> {
  const { settings } = await readSettings({ root, env: {} })
  const [project] = await Promise.all([
    lookAtProject(root, settings),
    treeFingerprint(root, settings.state.dir),
  ])
  if (project.entries.length !== 100) throw new Error('the tree was not looked at')
}

async function makeRepository(root: string): Promise<void> {
  for (let directory = 0; directory < files / 100; directory += 1) {
    mkdirSync(join(root, `d${directory}`))
    for (let file = 0; file < 100; file += 1)
      writeFileSync(join(root, `d${directory}/f${file}.txt`), `file ${file} of ${directory}\n`)
  }
  git(root, 'init', '-q')
  git(root, 'add', '-A')
  git(root, '-c', 'user.name=bench', '-c', 'user.email=bench@example.com', 'commit', '-q', '-m', 'all')
  // Files as young as the index are read by git to be sure; a second later they are no longer.
  await sleep(1100)
  git(root, 'status', '--porcelain')
}

function git(cwd: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}
