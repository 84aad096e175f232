import { expect, test } from 'vitest'
import { composeReporters } from './compose.ts'
import type { Reporter } from './contract.ts'
import { sampleRecord, sampleRun } from './sample-run.ts'

function remembering(): { readonly reporter: Reporter; readonly calls: string[] } {
  const calls: string[] = []
  return {
    calls,
    reporter: {
      runStarted: () => void calls.push('runStarted'),
      trialStarted: () => void calls.push('trialStarted'),
      trialEnded: () => void calls.push('trialEnded'),
      note: () => void calls.push('note'),
      runEnded: async () => void calls.push('runEnded'),
    },
  }
}

test('everything goes to all reporters, also to those with few hooks', async () => {
  const [a, b] = [remembering(), remembering()]
  const composed = composeReporters({ a: a.reporter, none: {}, b: b.reporter })
  const run = sampleRun([])
  composed.runStarted(run)
  composed.trialStarted(sampleRecord())
  composed.note({ level: 'info', message: 'hello' })
  composed.trialEnded(sampleRecord())
  await composed.runEnded(run)
  expect(a.calls).toEqual(['runStarted', 'trialStarted', 'note', 'trialEnded', 'runEnded'])
  expect(b.calls).toEqual(a.calls)
  expect(composed.problems()).toEqual([])
})

test('a reporter that throws is left out from then on and told of at the end; the others go on', async () => {
  const healthy = remembering()
  const broken = remembering()
  const error = new Error('no space')
  broken.reporter.trialEnded = () => {
    throw error
  }
  const late = { runEnded: () => Promise.reject(new Error('unwritable')) }
  const composed = composeReporters({ broken: broken.reporter, late, healthy: healthy.reporter })
  composed.runStarted(sampleRun([]))
  composed.trialEnded(sampleRecord())
  composed.trialEnded(sampleRecord())
  await composed.runEnded(sampleRun([]))
  expect(healthy.calls).toEqual(['runStarted', 'trialEnded', 'trialEnded', 'runEnded'])
  expect(broken.calls).toEqual(['runStarted'])
  expect(composed.problems()).toEqual([
    { name: 'broken', error },
    { name: 'late', error: new Error('unwritable') },
  ])
})
