import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRun } from '../store/create-run.ts'
import { openStore } from '../store/open-store.ts'
import { asideCostUsd, putAside, takeUncountedUsd } from './put-aside.ts'

test('an attempt that is put aside keeps its files under a free number and its cost', async () => {
  const root = mkdtempSync(join(tmpdir(), 'gantry-aside-'))
  try {
    const store = openStore({ env: {}, cwd: root, root })
    const run = createRun(store, { kind: 'plugin', title: 't', argv: [], cwd: root })
    for (const costUsd of [0.5, null, 0.25]) {
      writeFileSync(join(run.openTrial('one'), 'events.jsonl'), '{}\n')
      writeFileSync(join(run.trialDir('one'), 'result.json'), '{}')
      putAside(run, { id: 'one', costUsd }, costUsd === null ? 'over-budget' : 'infra', new Date(0))
    }
    // One that left no files.
    putAside(run, { id: 'two', costUsd: 1 }, 'infra', new Date(0))
    expect(readdirSync(join(run.dir, 'trials')).toSorted()).toEqual([
      'one.infra-1',
      'one.infra-2',
      'one.over-budget-1',
    ])
    expect(existsSync(join(run.dir, 'trials', 'one.infra-2', 'events.jsonl'))).toBe(true)
    expect(existsSync(join(run.dir, 'trials', 'one.infra-2', 'result.json'))).toBe(false)
    expect(await asideCostUsd(run)).toBe(1.75)
    // A killed process counted none of them. The result of one of the trials includes its attempts.
    expect(await takeUncountedUsd(run, (id) => id === 'two', new Date(0))).toBe(0.75)
    expect(await takeUncountedUsd(run, () => false, new Date(0))).toBe(0)
    putAside(run, { id: 'two', costUsd: 0.1 }, 'infra', new Date(0))
    expect(await takeUncountedUsd(run, () => false, new Date(0))).toBe(0.1)
    run.release()
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
