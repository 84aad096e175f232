import { join } from 'node:path'
import { namesIn } from '../io/directory.ts'
import { agentDirectory } from './agent-directory.ts'
import type { SnapshotTrigger } from './contract.ts'
import { writeSnapshot } from './snapshots/write-snapshot.ts'
import { currentStrategy, type TaskInHand } from './task-in-hand.ts'

/** Exactly one for every milestone, also when the process dies between writing it and remembering that it did. */
export async function takeSnapshot(hand: TaskInHand, trigger: SnapshotTrigger): Promise<void> {
  const { journal, known, tree, baseline, emit, now } = hand
  const name = `snapshot-${trigger.replace('_', '-')}-${known.counters.replans}`
  const path = await journal.step(name, async () => {
    const there = snapshotsIn(tree.root)
    const before = journal.kept<readonly string[]>(`${name}-begun`)
    const written = before === undefined ? undefined : there.find((each) => !before.includes(each))
    if (written !== undefined) return `${agentDirectory}/${written}`
    if (before === undefined) journal.keep(`${name}-begun`, there)
    const { counters, attempts, scoutA, scoutB, decisions } = known
    return writeSnapshot(tree.root, {
      trigger,
      at: now(),
      scoutA: scoutA?.raw ?? null,
      scoutB: scoutB?.raw ?? null,
      editor: {
        hypothesis: currentStrategy(hand),
        filesModified: await tree.changes(baseline.tree, await tree.take()),
        verifyAttempts: attempts.length,
        consecutiveFailures: counters.consecutiveFailures,
        totalLoops: counters.totalVerifyLoops,
      },
      decisions,
    })
  })
  emit({ kind: 'snapshot', path, milestone: trigger })
}

function snapshotsIn(root: string): readonly string[] {
  return namesIn(join(root, agentDirectory)).filter((name) => /^context_\d+\.md$/.test(name))
}
