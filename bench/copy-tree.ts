import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyTree } from '../src/io/copy-tree.ts'
import { compare, type Figure, inTemporary } from './figure.ts'

const files = 10_000

export function copyTemplate(): Promise<Figure> {
  return inTemporary((base) => {
    const source = join(base, 'source')
    makeSource(source)
    return compare({
      name: `copy a template of ${files} files`,
      atMost: 1.5,
      baseline: 'cp -r',
      rounds: 5,
      ours: (round) => copyTree(source, join(base, `ours-${round}`)),
      theirs: (round) => execFileSync('cp', ['-r', source, join(base, `theirs-${round}`)]),
    })
  })
}

function makeSource(source: string): void {
  for (let directory = 0; directory < files / 50; directory += 1) {
    mkdirSync(join(source, `d${directory}`), { recursive: true })
    for (let file = 0; file < 50; file += 1)
      writeFileSync(join(source, `d${directory}/f${file}.txt`), 'x'.repeat(200 + ((directory * file) % 4000)))
  }
}
