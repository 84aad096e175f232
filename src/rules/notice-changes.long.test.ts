import { availableParallelism } from 'node:os'
import { beforeAll, expect, test } from 'vitest'
import { everyNth } from '../../test/support/corpus-lines.ts'
import { needs } from '../../test/support/needs.ts'
import {
  type BypassResult,
  openBypassLab,
  readBypasses,
} from '../guard-engine/protection/bypasses.conformance.ts'
import { probeKernel } from '../guard-engine/protection/kernel-layer.ts'

const kernel = await probeKernel()
const results: BypassResult[] = []

beforeAll(async () => {
  using lab = openBypassLab()
  const waiting = [...everyNth(readBypasses(), 2)]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results.push(await lab.play(next))
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work))
}, 1_800_000)

test('every command of the corpus changes a protected file when nothing guards it', () => {
  const tried = results.filter(({ lacks }) => lacks === null)
  expect(tried.filter(({ unguarded }) => unguarded.length === 0).map(({ name }) => name)).toEqual([])
  expect(tried.length).toBeGreaterThanOrEqual(300)
})

test('no change of a protected file goes unreported', () => {
  expect(results.filter(({ unreported }) => unreported.length > 0)).toEqual([])
})

needs(`kernel layer (${kernel.kind === 'works' ? kernel.way : kernel.why})`, kernel.kind === 'works')(
  'with the kernel layer no protected file differs after the call',
  () => {
    // A directory above a file can be swapped. Then the file is put back.
    const isOpen = ({ name, notHeld, notPrevented }: BypassResult): boolean =>
      notHeld.length > 0 || (notPrevented.length > 0 && !name.startsWith('directory: swap'))
    expect(results.filter(isOpen)).toEqual([])
  },
)
