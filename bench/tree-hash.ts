import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { treeHash } from '../src/io/tree-hash.ts'
import { compare, type Figure, inTemporary } from './figure.ts'

const files = 20_000

export function hashRepository(): Promise<Figure> {
  return inTemporary(async (base) => {
    await makeRepository(base, files)
    return compare({
      name: `hash a repository of ${files} files after one edit`,
      atMost: 2,
      baseline: 'git status',
      rounds: 15,
      before: (round) => appendFileSync(join(base, 'd7/f7.txt'), `${round}\n`),
      ours: () => treeHash(base),
      theirs: () => git(base, 'status', '--porcelain'),
    })
  })
}

/** Committed, and older than the index. */
export async function makeRepository(base: string, files: number): Promise<void> {
  for (let directory = 0; directory < files / 100; directory += 1) {
    mkdirSync(join(base, `d${directory}`))
    for (let file = 0; file < 100; file += 1) {
      const text = `file ${file} of ${directory}\n`.repeat(1 + (file % 20))
      writeFileSync(join(base, `d${directory}/f${file}.txt`), text)
    }
  }
  git(base, 'init', '-q')
  git(base, 'add', '-A')
  git(base, '-c', 'user.name=bench', '-c', 'user.email=bench@example.com', 'commit', '-q', '-m', 'all')
  // git reads files again that are as new as the index; a second later it does not.
  await sleep(1100)
  git(base, 'status', '--porcelain')
}

function git(cwd: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}
