import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Figure, median } from './contract.ts'

const gantry = join(import.meta.dirname, '../dist/bin.js')
const rounds = 25

/** What every script that asks for the version pays. */
export async function startupFigure(): Promise<Figure> {
  const bare: number[] = []
  const ours: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    bare.push(time(['-e', '0']))
    ours.push(time([gantry, '--version']))
  }
  const ratio = median(ours) / median(bare)
  return {
    name: 'gantry --version',
    limit: 'at most 1.6x node -e 0',
    ratio,
    ok: ratio <= 1.6,
    detail: { bareMs: median(bare), oursMs: median(ours) },
  }
}

function time(args: readonly string[]): number {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`)
  return performance.now() - started
}
