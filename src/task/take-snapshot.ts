import { join } from 'node:path'
import { namesIn } from '../io/directory.ts'
import { writeFileAtomic } from '../io/files.ts'
import { pointLink } from '../io/point-link.ts'
import { type ActiveTask, currentStrategy } from './active-task.ts'
import { agentDirectory, openAgentDirectory } from './agent-directory.ts'
import type { LoopCounters, ScoutDecision, SnapshotTrigger } from './contract.ts'
import { oneLine } from './markdown-text.ts'

/** Writes exactly one snapshot per milestone, even if the process dies right after writing it. */
export async function takeSnapshot(active: ActiveTask, trigger: SnapshotTrigger): Promise<void> {
  const { journal, known, tree, baseline, emit, now } = active
  const name = `snapshot-${trigger.replace('_', '-')}-${known.counters.replans}`
  const path = await journal.step(name, async () => {
    const there = namesIn(join(tree.root, agentDirectory)).filter((name) => /^context_\d+\.md$/.test(name))
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
      hypothesis: currentStrategy(active),
      filesModified: await tree.changes(baseline.tree, await tree.take()),
      verifyAttempts: attempts.length,
      counters,
      decisions,
    })
  })
  emit({ kind: 'snapshot', path, milestone: trigger })
}

/** What the Editor knew at a milestone. Conversations with models are never in it. */
export interface Snapshot {
  readonly trigger: SnapshotTrigger
  readonly at: Date
  /** The Scouts' answers exactly as they were received; null when one was not asked. */
  readonly scoutA: string | null
  readonly scoutB: string | null
  readonly hypothesis: string
  readonly filesModified: readonly string[]
  readonly verifyAttempts: number
  readonly counters: LoopCounters
  readonly decisions: readonly ScoutDecision[]
}

/** Writes the next `agent/context_NNN.md` and links `context_latest.md` to it. Returns its path in the repository. */
export function writeSnapshot(root: string, snapshot: Snapshot): string {
  const directory = openAgentDirectory(root)
  const name = `context_${String(lastNumber(directory) + 1).padStart(3, '0')}.md`
  writeFileAtomic(join(directory, name), snapshotText(snapshot))
  pointLink(join(directory, 'context_latest.md'), name)
  return `${agentDirectory}/${name}`
}

function lastNumber(directory: string): number {
  const numbers = namesIn(directory).map((name) => Number(/^context_(\d{3,9})\.md$/.exec(name)?.[1] ?? 0))
  return Math.max(0, ...numbers)
}

const titles: Readonly<Record<SnapshotTrigger, string>> = {
  task_start: 'Task start',
  replan: 'REPLAN',
  task_success: 'Task success',
}

function snapshotText(snapshot: Snapshot): string {
  const { trigger, at, scoutA, scoutB, filesModified, counters, decisions } = snapshot
  return `# Context Snapshot

## Timestamp

${at.toISOString()}

## Milestone

${titles[trigger]}

## Scout A Report

${fenced(scoutA)}

## Scout B Report

${fenced(scoutB)}

## Editor State

- Hypothesis: ${oneLine(snapshot.hypothesis)}
- Files modified: ${filesModified.join(', ') || 'none'}
- Verify attempts: ${snapshot.verifyAttempts}
- Consecutive failures: ${counters.consecutiveFailures}
- Total loops: ${counters.totalVerifyLoops}
${decisions.length === 0 ? '' : `\n## Decisions\n\n${decisions.map(decisionText).join('\n')}\n`}`
}

function decisionText({ question, decision, rationale }: ScoutDecision): string {
  return `- ${oneLine(question)}: ${oneLine(decision)}, because ${oneLine(rationale)}`
}

/** The fence is longer than any in the text, so the text cannot close it. */
function fenced(raw: string | null): string {
  if (raw === null) return 'Not asked.'
  const longest = Math.max(2, ...[...raw.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}json\n${raw}\n${fence}`
}
