import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { compare, type Figure } from './figure.ts'

const gantry = join(import.meta.dirname, '../dist/cli/bin.js')

/** The time of `gantry --version`. */
export function startup(): Promise<Figure> {
  return compare({
    name: 'gantry --version',
    atMost: 1.6,
    baseline: 'node -e 0',
    rounds: 25,
    ours: () => node(gantry, '--version'),
    theirs: () => node('-e', '0'),
  })
}

function node(...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`)
}
