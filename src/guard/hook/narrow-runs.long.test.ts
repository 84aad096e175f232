import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyNth } from '../../../test/support/corpus-lines.ts'
import { narrowRuns } from '../../../test/support/honest-corpus.ts'
import { type HookLab, openHookLab } from '../../../test/support/hook-lab.ts'
import { playForReal } from '../../../test/support/play-sequence.ts'

let lab: HookLab
beforeAll(async () => {
  lab = await openHookLab()
}, 60_000)
afterAll(() => lab.remove())

test.each(everyNth(narrowRuns, 3))('$name: the first stop is refused', async (sequence) => {
  const { refused, reason } = await playForReal(lab, sequence, { onlyReads: true })
  expect(refused).toBe(true)
  expect(reason).toContain(sequence.why ?? '')
})
