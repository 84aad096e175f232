import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyNth } from '../../../test/support/corpus-lines.ts'
import { honestSequences } from '../../../test/support/honest-corpus.ts'
import { type HookLab, openHookLab } from '../../../test/support/hook-lab.ts'
import { playForReal } from '../../../test/support/play-sequence.ts'

let lab: HookLab
beforeAll(async () => {
  lab = await openHookLab()
}, 600_000)
afterAll(() => lab.remove())

/** Some of them with the program itself: starting it for every hook of all would take most of an hour. */
const some = everyNth(honestSequences, 40)

test.each(some)('$name: the first stop is accepted by the published program', async (sequence) => {
  expect(await playForReal(lab, sequence, { program: true })).toEqual({ refused: false, reason: '' })
})

test.each(everyNth(honestSequences, 3))('$name: the first stop is accepted', async (sequence) => {
  expect(await playForReal(lab, sequence, { onlyReads: true })).toEqual({ refused: false, reason: '' })
})

/** One per project with stand-ins: runners that are really on the machine cannot be made to fail by a file. */
const first = honestSequences.filter(
  ({ project }, index) =>
    !/^(?:npm-node|make-unittest|declared-npm|declared-workspace|npm-script|workspaces|workspaces-all)$/.test(
      project,
    ) && honestSequences.findIndex((each) => each.project === project) === index,
)

test.each(first)('$name: refused while the runner is red', async (sequence) => {
  expect((await playForReal(lab, sequence, { red: true })).refused).toBe(true)
})
